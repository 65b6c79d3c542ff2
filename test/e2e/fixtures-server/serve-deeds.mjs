// A server in a process of its own: `node serve-deeds.mjs <build> <folder> <runtime> <mode> [<leaseMs>]`.
// Writes its address to its output, one line. Its agent, of the runtime `kit`, `team`, `adk`, `graph` or `graphteam`, has a
// tool that asks before it pays, and one that looks without asking. Each adds a line to `deeds.txt` when it begins and when
// it is done, and so do models and nodes when they begin. The mode says where all stand still for good: `in-tool`,
// `after-result`, or `nowhere`. With `held`, tools go on when a line comes on the input, and so does a model that is told to
// look later.
import { appendFileSync } from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

const [build, folder, runtime, mode, leaseMs = '15000'] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(build, file)).href)
const { createServer } = await load('server/index.js')
const { serve } = await load('server/node.js')
const { createSqliteStore } = await load('threads/sqlite/store.js')

const never = new Promise(() => undefined)
const goOn = mode === 'held' ? once(process.stdin, 'data') : undefined
const note = (line) => appendFileSync(join(folder, 'deeds.txt'), `${line}\n`)

async function work(name, callId) {
  note(`${name} ${callId}`)
  if (mode === 'in-tool') await never
  await goOn
  note(`done ${callId}`)
  return `${name} done`
}

/** What a model answers: the call of a tool, or a text and whether the model stands still after it. */
async function answerTo({ role, text, turn }) {
  note(`model ${turn}`)
  const last = text.split(' ').at(-1)
  if (role === 'user' && (last === 'pay' || last === 'look')) {
    if (text.includes('later')) await goOn
    return { call: { id: `${last}-${turn}`, name: last } }
  }
  if (role === 'user') return { text: `You said: ${text}` }
  if (text.includes('lost')) return { text: 'It may have been done.' }
  return { text: 'All done.', isStuck: mode === 'after-result' }
}

async function kitAgent(name) {
  const { defineAgent, defineTool } = await load('index.js')
  const { scriptedModel } = await load('models/index.js')
  const model = scriptedModel(async ({ messages }) => {
    const { role, content } = messages.at(-1)
    const turn = messages.filter((message) => message.role === 'user').length
    const { text, call, isStuck } = await answerTo({ role, text: String(content), turn: `${name}-${turn}` })
    return [call ? { toolCall: call } : text, ...(isStuck ? [{ wait: () => never }] : [])]
  })
  const pay = defineTool({
    ...{ name: 'pay', description: 'Pays.' },
    async execute(_args, ctx) {
      await ctx.interrupt({ message: 'Pay?' })
      return work('pay', ctx.toolCallId)
    },
  })
  const look = defineTool({
    ...{ name: 'look', description: 'Looks.' },
    execute: (_args, { toolCallId }) => work('look', toolCallId),
  })
  return defineAgent({ name, description: 'Pays and looks.', model, tools: [pay, look] })
}

const agents = {
  kit: () => kitAgent('kit'),

  async team() {
    const { parallel } = await load('index.js')
    return parallel({ name: 'team', agents: [await kitAgent('ann'), await kitAgent('bob')] })
  },

  async adk() {
    const { BaseLlm, FunctionTool, LlmAgent, LogLevel, setLogLevel } = await import('@google/adk')
    const { fromAdk } = await load('adk/index.js')
    setLogLevel(LogLevel.ERROR)

    class Llm extends BaseLlm {
      async *generateContentAsync({ contents }) {
        const { role, parts = [] } = contents.at(-1)
        const result = parts.find((part) => part.functionResponse)?.functionResponse.response
        const turn = contents.flatMap((one) => one.parts ?? []).filter((part) => part.text).length
        const text = result ? JSON.stringify(result) : parts.map((part) => part.text).join(' ')
        const answer = await answerTo({ role: result ? 'tool' : role, text, turn })
        if (answer.isStuck) {
          yield { content: { role: 'model', parts: [{ text: answer.text }] }, partial: true }
          await never
        }
        const part = answer.call ? { functionCall: { ...answer.call, args: {} } } : { text: answer.text }
        yield { content: { role: 'model', parts: [part] }, partial: false }
      }
    }

    const toolNamed = (name, requireConfirmation) =>
      new FunctionTool({
        ...{ name, description: name, parameters: z.object({}), requireConfirmation },
        execute: (_args, context) => work(name, context.functionCallId),
      })
    const tools = [toolNamed('pay', true), toolNamed('look', false)]
    return fromAdk(new LlmAgent({ name: 'adk', model: new Llm({ model: 'scripted' }), tools }))
  },

  async graph() {
    const { fromLangGraph } = await load('langgraph/index.js')
    return fromLangGraph(await graphAgent('graph', { checkpointer: await saver() }), { name: 'graph' })
  },

  async graphteam() {
    const { fromLangGraph } = await load('langgraph/index.js')
    const { MessagesAnnotation, START, StateGraph } = await import('@langchain/langgraph')
    const [ann, bob] = [await graphAgent('ann'), await graphAgent('bob')]
    const both = new StateGraph(MessagesAnnotation).addNode('ann', ann.graph).addNode('bob', bob.graph)
    both.addEdge(START, 'ann').addEdge(START, 'bob')
    return fromLangGraph(both.compile({ checkpointer: await saver() }), { name: 'graphteam' })
  },
}

async function saver() {
  const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite')
  return SqliteSaver.fromConnString(join(folder, 'checkpoints.db'))
}

async function graphAgent(name, rest) {
  const { AIMessage } = await import('@langchain/core/messages')
  const { FakeListChatModel } = await import('@langchain/core/utils/testing')
  const { createAgent, createMiddleware, humanInTheLoopMiddleware, tool } = await import('langchain')

  class ChatModel extends FakeListChatModel {
    disableStreaming = true

    bindTools() {
      return this
    }

    async _generate(messages) {
      const last = messages.at(-1)
      const role = last.getType() === 'human' ? 'user' : 'tool'
      const turn = `${name}-${messages.filter((message) => message.getType() === 'human').length}`
      const { text = '', call, isStuck } = await answerTo({ role, text: String(last.content), turn })
      if (isStuck) await never
      const fields = call ? { tool_calls: [{ ...call, args: {}, type: 'tool_call' }] } : {}
      return { generations: [{ text, message: new AIMessage({ content: text, ...fields }) }] }
    }
  }

  const toolNamed = (one) =>
    tool((_args, config) => work(one, config.toolCall?.id), {
      ...{ name: one, description: one, schema: z.object({}) },
    })
  const allowedDecisions = ['approve', 'reject']
  const beforeModel = () => note(`node ${name}`)
  return createAgent({
    model: new ChatModel({ responses: [''] }),
    tools: [toolNamed('pay'), toolNamed('look')],
    middleware: [
      humanInTheLoopMiddleware({ interruptOn: { pay: { allowedDecisions } } }),
      createMiddleware({ name: 'notes', beforeModel }),
    ],
    name,
    ...rest,
  })
}

const quiet = () => undefined
const server = createServer({
  agents: [await agents[runtime]()],
  store: await createSqliteStore({ path: join(folder, 'threads.db') }),
  limits: { leaseMs: Number(leaseMs) },
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const { url } = await serve(server, { port: 0, graceMs: 0 })
process.stdout.write(`${url}\n`)
