// Agents of every runtime in a process of its own: `node serve-orders.mjs <build> <folder> <names> <leaseMs> <logFirst>`.
// Writes its address to its output, one line. A user's message is an order, `order 7: look pay pay / choose`: the model
// calls the tools before the slash all at once, then those behind it, and says a few words at the end. `look` just works,
// `pay` asks before, `choose` is the client's. Each tool adds a line to `deeds.txt` when it begins, and the models add one
// when they get a call without its result. Everything takes a random little while, so that a kill can come anywhere.
import { appendFileSync } from 'node:fs'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import { z } from 'zod'

const [build, folder, names, leaseMs, logFirst] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(build, file)).href)
const { createServer } = await load('server/index.js')
const { serve } = await load('server/node.js')
const { createSqliteStore } = await load('threads/sqlite/store.js')

const note = (...words) => appendFileSync(join(folder, 'deeds.txt'), `${words.join(' ')}\n`)
const aWhile = (most = 12) => pause(Math.floor(Math.random() * most))
const words = ['Here ', 'it ', 'is, ', 'all ', 'as ', 'you ', 'wanted.']
const inputSchema = z.object({ key: z.string() })

async function work(name, callId, key) {
  note('begin', callId, key, process.pid)
  await aWhile(40)
  return `${name} done for ${key}`
}

/** What the model of an agent does next: the calls of a step, or undefined when nothing is left but words. */
function nextCalls(agent, messages, { calls, results }) {
  const open = calls.filter((id) => !results.includes(id))
  if (open.length > 0) note('fault', agent, 'was shown calls without results:', open.join(','))
  const text = JSON.stringify(messages)
  const [, id, steps] = [...text.matchAll(/order (\w+): ([a-z /]+)/g)].at(-1)
  const begun = new Set([...text.matchAll(new RegExp(`${agent}:${id}:(\\d+):`, 'g'))].map(([, step]) => step))
  const step = steps.trim().split(' / ')[begun.size]
  return step?.split(' ').map((name, n) => ({
    ...{ id: `${name}-${randomUUID().slice(0, 8)}`, name },
    args: { key: `${agent}:${id}:${begun.size}:${n}` },
  }))
}

async function kitAgent(name) {
  const { defineAgent, defineTool } = await load('index.js')
  const { scriptedModel } = await load('models/index.js')
  const model = scriptedModel(async ({ messages }) => {
    await aWhile()
    const calls = nextCalls(name, messages, {
      calls: messages.flatMap(({ toolCalls = [] }) => toolCalls.map(({ id }) => id)),
      results: messages.flatMap(({ toolCallId = [] }) => toolCallId),
    })
    const pieces = calls ? ['Now. ', ...calls.map((toolCall) => ({ toolCall }))] : words
    return pieces.flatMap((piece) => [piece, { wait: () => aWhile() }])
  })
  const pay = defineTool({
    ...{ name: 'pay', description: 'Pays.', input: inputSchema },
    async execute({ key }, ctx) {
      const { status } = await ctx.interrupt({ message: 'Pay?' })
      if (status !== 'resolved') return `not paid for ${key}`
      return work('pay', ctx.toolCallId, key)
    },
  })
  const look = defineTool({
    ...{ name: 'look', description: 'Looks.', input: inputSchema },
    async execute({ key }, { toolCallId, setState }) {
      const result = await work('look', toolCallId, key)
      setState((state) => ({ ...state, seen: [...(state?.seen ?? []), key] }))
      return result
    },
  })
  return defineAgent({ name, description: 'Does what it is told.', model, tools: [pay, look] })
}

async function adkAgent(name) {
  const { BaseLlm, FunctionTool, LlmAgent, LogLevel, setLogLevel } = await import('@google/adk')
  setLogLevel(LogLevel.ERROR)

  class Llm extends BaseLlm {
    async *generateContentAsync({ contents }, isStreaming) {
      await aWhile()
      const parts = contents.flatMap(({ parts = [] }) => parts)
      const calls = nextCalls(name, contents, {
        calls: parts.flatMap(({ functionCall }) => functionCall?.id ?? []),
        results: parts.flatMap(({ functionResponse }) => functionResponse?.id ?? []),
      })
      const content = (...parts) => ({ role: 'model', parts })
      if (calls)
        return yield { content: content(...calls.map((call) => ({ functionCall: call }))), partial: false }
      for (const text of isStreaming ? words : []) {
        yield { content: content({ text }), partial: true }
        await aWhile()
      }
      yield { content: content({ text: words.join('') }), partial: false }
    }
  }

  const toolNamed = (tool, requireConfirmation) =>
    new FunctionTool({
      ...{ name: tool, description: tool, parameters: inputSchema, requireConfirmation },
      execute: async ({ key }, context) => {
        const result = await work(tool, context.functionCallId, key)
        if (tool === 'look') context.state.set(`seen-${context.functionCallId}`, key)
        return result
      },
    })
  const tools = [toolNamed('pay', true), toolNamed('look', false)]
  return new LlmAgent({ name, description: 'Does.', model: new Llm({ model: 'scripted' }), tools })
}

async function served(root, name) {
  const { DatabaseSessionService } = await import('@google/adk')
  const { LibSqlDriver } = await import('@mikro-orm/libsql')
  const { fromAdk } = await load('adk/index.js')
  const sessionService = new DatabaseSessionService({
    driver: LibSqlDriver,
    dbName: join(folder, `${name}.db`),
  })
  return fromAdk(root, { sessionService })
}

async function graphAgent(name, rest) {
  const { AIMessage } = await import('@langchain/core/messages')
  const { FakeListChatModel } = await import('@langchain/core/utils/testing')
  const { ChatGenerationChunk } = await import('@langchain/core/outputs')
  const { AIMessageChunk } = await import('@langchain/core/messages')
  const { createAgent, humanInTheLoopMiddleware, tool } = await import('langchain')
  const { clientTools } = await load('langgraph/index.js')

  class ChatModel extends FakeListChatModel {
    bindTools() {
      return this
    }

    calls(messages) {
      return nextCalls(name, messages, {
        calls: messages.flatMap((message) => (message.tool_calls ?? []).map(({ id }) => id)),
        results: messages.flatMap((message) => message.tool_call_id ?? []),
      })?.map((call) => ({ ...call, type: 'tool_call' }))
    }

    async _generate(messages) {
      await aWhile()
      const calls = this.calls(messages)
      const text = calls ? '' : words.join('')
      return { generations: [{ text, message: new AIMessage({ content: text, tool_calls: calls ?? [] }) }] }
    }

    async *_streamResponseChunks(messages, _options, manager) {
      await aWhile()
      const calls = this.calls(messages)
      const id = randomUUID()
      if (calls) {
        const tool_call_chunks = calls.map(({ args, ...call }, index) => ({
          ...{ id: call.id, name: call.name, args: JSON.stringify(args), index, type: 'tool_call_chunk' },
        }))
        yield new ChatGenerationChunk({
          text: '',
          message: new AIMessageChunk({ id, content: '', tool_call_chunks }),
        })
        return
      }
      for (const text of words) {
        yield new ChatGenerationChunk({ text, message: new AIMessageChunk({ id, content: text }) })
        await manager?.handleLLMNewToken(text)
        await aWhile()
      }
    }
  }

  const toolNamed = (one) =>
    tool(({ key }, config) => work(one, config.toolCall?.id, key), {
      ...{ name: one, description: one, schema: inputSchema },
    })
  const allowedDecisions = ['approve', 'reject']
  return createAgent({
    model: new ChatModel({ responses: [''] }),
    tools: [toolNamed('pay'), toolNamed('look')],
    middleware: [clientTools(), humanInTheLoopMiddleware({ interruptOn: { pay: { allowedDecisions } } })],
    name,
    ...rest,
  })
}

async function saver(name) {
  const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite')
  return SqliteSaver.fromConnString(join(folder, `${name}.db`))
}

const makers = {
  kit: () => kitAgent('kit'),

  async team() {
    const { parallel } = await load('index.js')
    return parallel({ name: 'team', agents: [await kitAgent('ann'), await kitAgent('bob')] })
  },

  adk: async () => served(await adkAgent('adk'), 'adk'),

  async adkteam() {
    const { ParallelAgent } = await import('@google/adk')
    const subAgents = [await adkAgent('ann'), await adkAgent('bob')]
    return served(new ParallelAgent({ name: 'adkteam', subAgents }), 'adkteam')
  },

  async graph() {
    const { fromLangGraph } = await load('langgraph/index.js')
    const checkpointer = await saver('graph')
    return fromLangGraph(await graphAgent('graph', { checkpointer }), { name: 'graph' })
  },

  async graphteam() {
    const { fromLangGraph } = await load('langgraph/index.js')
    const { END, MessagesAnnotation, START, StateGraph } = await import('@langchain/langgraph')
    const [ann, bob] = [await graphAgent('ann'), await graphAgent('bob')]
    const both = new StateGraph(MessagesAnnotation)
      .addNode('ann', ann.graph)
      .addNode('bob', bob.graph)
      .addEdge(START, 'ann')
      .addEdge(START, 'bob')
      .addEdge('ann', END)
      .addEdge('bob', END)
    return fromLangGraph(both.compile({ checkpointer: await saver('graphteam') }), { name: 'graphteam' })
  },
}

/** One thread of all runtimes at once. */
makers.crew = async () => {
  const { parallel } = await load('index.js')
  const { fromAdk } = await load('adk/index.js')
  const { fromLangGraph } = await load('langgraph/index.js')
  const graph = await graphAgent('cid', { checkpointer: await saver('crew') })
  return parallel({
    name: 'crew',
    agents: [await kitAgent('ann'), fromAdk(await adkAgent('bob')), fromLangGraph(graph, { name: 'cid' })],
  })
}

const report = (...parts) => process.env.ORDERS_LOG && process.stderr.write(`${JSON.stringify(parts)}\n`)
const quiet = () => undefined
const server = createServer({
  agents: await Promise.all(names.split(',').map((name) => makers[name]())),
  store: await createSqliteStore({ path: join(folder, 'threads.db') }),
  limits: { leaseMs: Number(leaseMs) },
  stream: { logFirst: logFirst === 'true' },
  log: { debug: quiet, info: quiet, warn: report, error: report },
})
const { url } = await serve(server, { port: 0, graceMs: 0 })
process.stdout.write(`${url}\n`)
