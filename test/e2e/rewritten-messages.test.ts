import { AIMessage, RemoveMessage } from '@langchain/core/messages'
import { tool, type StructuredTool } from '@langchain/core/tools'
import {
  type BaseCheckpointSaver,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { LlmAgent } from '@google/adk'
import { createAgent, humanInTheLoopMiddleware, piiMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { agentTool, defineAgent, withRetry, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { partial, says, ScriptedLlm, whole } from '../support/adk/scripted-llm.js'
import { requestLines } from '../support/adk/serve-adk.js'
import { callChunks, FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  agentModel,
  historyOf,
  openInterrupts,
  promptText,
  serveGraph,
} from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { newClient } from './support-clients.js'
import { ScriptedAgUi, servedRemote } from './support-remote.js'

interface GraphOptions {
  readonly model: FakeModel
  readonly tools?: StructuredTool[]
  readonly checkpointer?: BaseCheckpointSaver
}

/** A graph of `createAgent`. The types of LangChain's own middlewares do not fit those of its function. */
function agentGraph(options: GraphOptions, ...middleware: unknown[]) {
  return createAgent({ ...options, middleware: middleware as AgentMiddleware[] }).graph
}

const mails = (options: Parameters<typeof piiMiddleware>[1]) => piiMiddleware('email', options)

/** The messages of the only thread in a checkpointer, as a later process reads them. */
async function savedLines(graph: ReturnType<typeof agentGraph>): Promise<string[]> {
  const config = { configurable: { thread_id: 'default/local/helper/thread-1' } }
  const { values } = (await graph.getState(config)) as { values: { messages: AIMessage[] } }
  return promptText(values.messages)
}

const snapshotsIn = (events: readonly AgUiEvent[]) => ofType(events, 'MESSAGES_SNAPSHOT')

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it.each(['with', 'without'])(
    'an address that middleware redacts is in no client, history, prompt or checkpoint: %s checkpointer',
    async (checkpoints) => {
      const model = agentModel([['Write to ', 'ann@x.org', ' soon.'], ['Again.'], ['Bye.']])
      const saver = checkpoints === 'with' ? { checkpointer: new MemorySaver() } : {}
      const graph = agentGraph({ model, ...saver }, mails({ applyToOutput: true }))
      const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'helper' })] })
      const talk = served.talk({ Client })
      const events = await talk.say('I am bob@x.org.')
      expect(snapshotsIn(events)).toHaveLength(1)
      const lines = ['user: I am [REDACTED_EMAIL].', 'assistant: Write to [REDACTED_EMAIL] soon.']
      expect(linesOf(talk.client.messages)).toEqual(lines)
      expect(await historyOf(served)).toMatchObject(talk.client.messages)
      const redacted = ['human: I am [REDACTED_EMAIL].', 'ai: Write to [REDACTED_EMAIL] soon.']
      if (checkpoints === 'with') expect(await savedLines(graph)).toEqual(redacted)
      // Nothing is rewritten in this one.
      expect(snapshotsIn(await talk.say('And?'))).toEqual([])
      expect(promptText(model.calls[1])).toEqual([...redacted, 'human: And?'])
      const fresh = newClient({ url: served.url })
      await fresh.connectAgent()
      expect(fresh.messages.map(({ content }) => content)).toEqual(
        talk.client.messages.map(({ content }) => content),
      )
    },
  )

  it('a tool call that a person has edited is the edited one everywhere, also after a restart', async () => {
    const sent: string[] = []
    const mail = tool(({ to }) => `Sent to ${String(sent.push(to) && to)}.`, {
      ...{ name: 'mail', description: 'Mails.', schema: z.object({ to: z.string() }) },
    })
    const model = agentModel([['I mail.', ...callChunks('c1', 'mail', { to: 'ann' })], ['Done.'], ['Yes.']])
    const graphOf = (checkpointer: BaseCheckpointSaver) =>
      agentGraph(
        { model, tools: [mail], checkpointer },
        humanInTheLoopMiddleware({ interruptOn: { mail: true } } as never),
      )
    let graph: ReturnType<typeof agentGraph> | undefined
    const served = await serveGraph({
      make: (saver) => fromLangGraph((graph = graphOf(saver)), { name: 'helper' }),
      store: 'sqlite',
      checkpoints: 'sqlite',
    })
    const talk = served.talk({ Client })
    await talk.say('Mail.')
    const [interrupt] = await openInterrupts(served)
    const payload = { type: 'edit', editedAction: { name: 'mail', args: { to: 'bob' } } }
    await talk.send({ resume: [{ interruptId: interrupt?.id ?? '', status: 'resolved', payload }] })
    expect(sent).toEqual(['bob'])
    const lines = [
      'user: Mail.',
      'assistant: I mail. mail({"to":"bob"})',
      'tool: Sent to bob.',
      'assistant: Done.',
    ]
    expect(linesOf(talk.client.messages)).toEqual(lines)
    expect(linesOf(await historyOf(served))).toEqual(lines)
    expect(graph && (await savedLines(graph))[1]).toBe('ai: I mail. mail({"to":"bob"})')
    const again = await served.restart()
    const later = again.talk({ Client })
    later.client.setMessages(talk.client.messages)
    await later.say('Sure?')
    expect(promptText(model.calls[2])[1]).toBe('ai: I mail. mail({"to":"bob"})')
  })

  it.each(retries.map(({ runtime, serve }) => [runtime, serve] as const))(
    'a draft that a retry has taken back is in no history and no later prompt: %s',
    async (_, serve) => {
      for (const history of ['server', 'client'] as const) {
        const { served, prompt } = await serve(history)
        const talk = served.talk({ Client })
        const events = await talk.say('Go.')
        expect(JSON.stringify(events)).toContain('Half')
        expect(snapshotsIn(events)).toHaveLength(1)
        const lines = ['user: Go.', 'assistant: Whole.']
        expect(linesOf(talk.client.messages)).toEqual(lines)
        expect(linesOf(await historyOf(served))).toEqual(lines)
        await talk.say('And?')
        expect(prompt()).toMatch(/Go\..*Whole\..*And\?/s)
        expect(prompt()).not.toContain('Half')
        expect(await historyOf(served)).toEqual(talk.client.messages)
      }
    },
  )
})

interface RetryCase {
  readonly served: ServedAgents
  /** The last prompt of the model. */
  readonly prompt: () => string
}

type History = 'server' | 'client'

/** Agents that stream `Half`, fail, and then answer `Whole.`; asked again, they answer `More.` */
const retries: readonly { runtime: string; serve: (history: History) => Promise<RetryCase> }[] = [
  {
    runtime: 'a model call of the kit',
    serve: (history) => serveKit(history, { initialDelayMs: 0 }, (agent) => agent),
  },
  {
    runtime: 'withRetry around the kit',
    serve: (history) => serveKit(history, { attempts: 1 }, (agent) => again(agent)),
  },
  {
    runtime: 'a kit agent elsewhere',
    async serve(history) {
      const { agent, model } = kitAgent({ initialDelayMs: 0 })
      const { agent: remote } = await servedRemote({ agents: [agent] })
      const served = await serveAgents({ agents: [remote()], history })
      return { served, prompt: () => JSON.stringify(model.requests.at(-1)?.messages) }
    },
  },
  {
    runtime: 'withRetry around an agent of ADK',
    async serve(history) {
      const llm = new ScriptedLlm([[partial('Half'), new Error('broken')], says('Whole.'), says('More.')])
      const agent = again(fromAdk(new LlmAgent({ name: 'helper', model: llm })))
      const served = await serveAgents({ agents: [agent], history })
      return { served, prompt: () => requestLines(llm.calls.at(-1)).join('\n') }
    },
  },
  { runtime: 'a node of a graph', serve: (history) => serveRetryingGraph(history, {}) },
  {
    runtime: 'a node of a graph with a checkpointer',
    serve: (history) => serveRetryingGraph(history, { checkpointer: new MemorySaver() }),
  },
  ...[false, true].map((hasCheckpoints) => ({
    runtime: `withRetry around a graph ${hasCheckpoints ? 'with' : 'without'} a checkpointer`,
    async serve(history: History) {
      const { graph, model } = retryingGraph(hasCheckpoints ? { checkpointer: new MemorySaver() } : {}, false)
      const served = await serveAgents({ agents: [again(fromLangGraph(graph, { name: 'helper' }))], history })
      return { served, prompt: () => promptText(model.calls.at(-1)).join('\n') }
    },
  })),
]

const again = (agent: Agent): Agent => withRetry(agent, { delayMs: 0, isRetryable: () => true })

function kitAgent(retry: { attempts?: number; initialDelayMs?: number }) {
  const busy = { error: { status: 503, message: 'busy' } }
  const model = scriptedModel([['Half', busy], 'Whole.', 'More.'])
  return { model, agent: defineAgent({ name: 'helper', model, retry }) }
}

async function serveKit(
  history: History,
  retry: Parameters<typeof kitAgent>[0],
  wrap: (agent: Agent) => Agent,
): Promise<RetryCase> {
  const { agent, model } = kitAgent(retry)
  const served = await serveAgents({ agents: [wrap(agent)], history })
  return { served, prompt: () => JSON.stringify(model.requests.at(-1)?.messages) }
}

function retryingGraph(options: { checkpointer?: BaseCheckpointSaver }, hasPolicy = true) {
  const model = new FakeModel([['Half', new Error('broken')], ['Whole.'], ['More.']])
  const retryPolicy = { initialInterval: 1, jitter: false, logWarning: false }
  const graph = new StateGraph(MessagesAnnotation)
    .addNode(
      'agent',
      async ({ messages }: typeof MessagesAnnotation.State) => ({ messages: [await model.invoke(messages)] }),
      hasPolicy ? { retryPolicy } : {},
    )
    .addEdge(START, 'agent')
    .compile(options)
  return { graph, model }
}

async function serveRetryingGraph(
  history: History,
  options: { checkpointer?: BaseCheckpointSaver },
): Promise<RetryCase> {
  const { graph, model } = retryingGraph(options)
  const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'helper' })], history })
  return { served, prompt: () => promptText(model.calls.at(-1)).join('\n') }
}

describe('a graph', () => {
  async function serveOf(graph: Parameters<typeof fromLangGraph>[0]) {
    const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'helper' })] })
    return { served, talk: served.talk() }
  }

  it('that redacts the result of a tool does so for clients too', async () => {
    const look = tool(() => 'ann@x.org', { name: 'look', description: 'Looks.', schema: z.object({}) })
    const model = agentModel([callChunks('c1', 'look', {}), ['Found.']])
    const graph = agentGraph({ model, tools: [look] }, mails({ applyToToolResults: true }))
    const { served, talk } = await serveOf(graph)
    await talk.say('Who?')
    expect(linesOf(talk.client.messages)[2]).toBe('tool: [REDACTED_EMAIL]')
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })

  it('that removes its own draft takes it back; old messages and calls that it forgets stay', async () => {
    const model = new FakeModel([['Draft.'], ['Final.']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('write', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('judge', ({ messages }) => ({
        messages:
          messages.at(-1)?.text === 'Draft.' ? [new RemoveMessage({ id: messages.at(-1)?.id ?? '' })] : [],
      }))
      .addEdge(START, 'write')
      .addEdge('write', 'judge')
      .addConditionalEdges('judge', ({ messages }) =>
        messages.at(-1)?.type === 'human' ? 'write' : '__end__',
      )
      .compile()
    const { served, talk } = await serveOf(graph)
    await talk.say('Write.')
    expect(linesOf(talk.client.messages)).toEqual(['user: Write.', 'assistant: Final.'])
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })

  it('that redacts an answer takes back its reasoning too, which may say the same', async () => {
    const thought = { content: '', additional_kwargs: { reasoning_content: 'It is ann@x.org.' } }
    const model = agentModel([[thought, 'Ask ann@x.org.']])
    const { served, talk } = await serveOf(agentGraph({ model }, mails({ applyToOutput: true })))
    const events = await talk.say('Who?')
    expect(ofType(events, 'REASONING_MESSAGE_CONTENT')).toHaveLength(1)
    expect(JSON.stringify(talk.client.messages)).not.toContain('ann')
    expect(JSON.stringify(await historyOf(served))).not.toContain('ann')
  })

  it('that changes a message in its place is noticed', async () => {
    const model = new FakeModel([['ann', ' here']])
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('write', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addNode('mask', ({ messages }) => {
        const last = messages.at(-1)
        if (last) last.content = 'somebody here'
        return { messages: last ? [last] : [] }
      })
      .addEdge(START, 'write')
      .addEdge('write', 'mask')
      .compile()
    const { talk } = await serveOf(graph)
    await talk.say('Who?')
    expect(linesOf(talk.client.messages)[1]).toBe('assistant: somebody here')
  })

  it('in a subgraph: its message is rewritten under its span, what the subgraph hides from itself is not', async () => {
    const model = agentModel([['Ask ', 'ann@x.org']])
    const inner = agentGraph({ model }, mails({ applyToOutput: true }))
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('helper', async ({ messages }) => {
        const { messages: all } = (await inner.invoke({ messages })) as { messages: AIMessage[] }
        return { messages: [new AIMessage({ id: 'own', content: `It says: ${all.at(-1)?.text ?? ''}` })] }
      })
      .addEdge(START, 'helper')
      .compile()
    const { served, talk } = await serveOf(graph)
    await talk.say('I am bob@x.org.')
    expect(linesOf(talk.client.messages)).toEqual([
      'user: I am bob@x.org.',
      'assistant: Ask [REDACTED_EMAIL]',
      'assistant: It says: Ask [REDACTED_EMAIL]',
    ])
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })

  it('as a tool of another agent: the other model reads the redacted answer', async () => {
    const graph = agentGraph({ model: agentModel([['ann@x.org']]) }, mails({ applyToOutput: true }))
    const model = scriptedModel([
      [{ toolCall: { id: 'c1', name: 'finder', args: { request: 'Who?' } } }],
      'Done.',
    ])
    const finder = fromLangGraph(graph, { name: 'finder', description: 'Finds.' })
    const served = await serveAgents({
      agents: [defineAgent({ name: 'lead', model, tools: [agentTool(finder)] })],
    })
    const talk = served.talk()
    await talk.say('Find.')
    expect(JSON.stringify(model.requests[1]?.messages)).toContain('[REDACTED_EMAIL]')
    expect(JSON.stringify(await historyOf(served))).not.toContain('ann@x.org')
    expect(JSON.stringify(talk.client.messages)).not.toContain('ann@x.org')
  })

  it('that redacts what the user wrote: a client that still has the original has edited nothing', async () => {
    const model = agentModel([['Hello.'], ['Bye.']])
    const { served, talk } = await serveOf(agentGraph({ model, checkpointer: new MemorySaver() }, mails({})))
    await talk.say('I am bob@x.org.')
    const [first] = talk.client.messages
    if (first?.role === 'user') first.content = 'I am bob@x.org.'
    await talk.say('And?')
    expect(promptText(model.calls[1])).toEqual(['human: I am [REDACTED_EMAIL].', 'ai: Hello.', 'human: And?'])
    expect(linesOf(await historyOf(served))[0]).toBe('user: I am [REDACTED_EMAIL].')
  })
})

describe('an agent elsewhere', () => {
  it('that is a graph with middleware: what it redacts is redacted here too', async () => {
    const model = agentModel([['Ask ', 'ann@x.org'], ['Bye.']])
    const graph = agentGraph({ model }, mails({ applyToOutput: true }))
    const { agent } = await servedRemote({ agents: [fromLangGraph(graph, { name: 'helper' })] })
    const served = await serveAgents({ agents: [agent()] })
    const talk = served.talk()
    await talk.say('I am bob@x.org.')
    const lines = ['user: I am [REDACTED_EMAIL].', 'assistant: Ask [REDACTED_EMAIL]']
    expect(linesOf(talk.client.messages)).toEqual(lines)
    expect(await historyOf(served)).toMatchObject(talk.client.messages)
    await talk.say('And?')
    expect(promptText(model.calls[1])).toContain('ai: Ask [REDACTED_EMAIL]')
  })

  it('of any other server: its last snapshot has the text and the arguments that count', async () => {
    const call = (to: string) => ({
      id: 'c1',
      type: 'function',
      function: { name: 'mail', arguments: `{"to":"${to}"}` },
    })
    const remote = new ScriptedAgUi((input) => [
      { type: 'RUN_STARTED' },
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'To ann.' },
      {
        type: 'TOOL_CALL_CHUNK',
        toolCallId: 'c1',
        toolCallName: 'mail',
        parentMessageId: 'm1',
        delta: '{"to":"ann"}',
      },
      { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'Sent.', role: 'tool' },
      {
        type: 'MESSAGES_SNAPSHOT',
        messages: [
          ...input.messages,
          { id: 'm1', role: 'assistant', content: 'To bob.', toolCalls: [call('bob')] },
          { id: 't1', role: 'tool', toolCallId: 'c1', content: 'Sent.' },
        ],
      },
      { type: 'RUN_FINISHED' },
    ])
    const served = await serveAgents({ agents: [fromAgUi(remote, { name: 'far' })] })
    const talk = served.talk()
    await talk.say('Mail.')
    const lines = ['user: Mail.', 'assistant: To bob. mail({"to":"bob"})', 'tool: Sent.']
    expect(linesOf(talk.client.messages)).toEqual(lines)
    expect(await historyOf(served)).toEqual(talk.client.messages)
  })
})

it('an answer that a callback of ADK changes after it was streamed is the changed one', async () => {
  const llm = new ScriptedLlm([
    [partial('Write to '), partial('ann.'), whole([{ text: 'Write to ann.' }])],
    says('Yes.'),
  ])
  const agent = new LlmAgent({
    name: 'helper',
    model: llm,
    afterModelCallback: ({ response }) =>
      response.partial === true
        ? undefined
        : { ...response, content: { role: 'model', parts: [{ text: '[removed]' }] } },
  })
  const served = await serveAgents({ agents: [fromAdk(agent)] })
  const talk = served.talk()
  await talk.say('Whom?')
  expect(linesOf(talk.client.messages)).toEqual(['user: Whom?', 'assistant: [removed]'])
  expect(await historyOf(served)).toEqual(talk.client.messages)
  await talk.say('Sure?')
  expect(requestLines(llm.calls[1])).toEqual(['user: Whom?', 'model: [removed]', 'user: Sure?'])
})

it('a plain run sends no snapshot of messages', async () => {
  const steps: readonly ModelStep[] = [['Hello.']]
  const graph = agentGraph({ model: agentModel(steps) })
  const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'helper' })] })
  expect(snapshotsIn(await served.talk().say('Hi.'))).toEqual([])
})
