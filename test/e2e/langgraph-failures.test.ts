import { tool } from '@langchain/core/tools'
import {
  Annotation,
  interrupt,
  MessagesAnnotation,
  START,
  StateGraph,
  type BaseCheckpointSaver,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { agentTool, defineAgent, withRetry } from '../../src/index.js'
import { fromLangGraph, type GraphEvent } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { callChunks, FakeModel, type ModelStep } from '../support/langgraph/fake-model.js'
import {
  promptText,
  interruptsIn,
  serveGraph,
  textIn,
  textsIn,
  type ServeGraphOptions,
} from '../support/langgraph/serve-graph.js'
import { deferred, ofType, resultsIn } from '../support/run-agent.js'
import { clientVersions, serveAgents } from '../support/serve-agents.js'
import { inputOf, user } from './support-server.js'

const runs: string[] = []
const work = tool(
  ({ what }) => {
    runs.push(what)
    if (what === 'bad') throw new Error('tool-secret')
    return `did ${what}`
  },
  { name: 'work', description: 'Works.', schema: z.object({ what: z.string() }) },
)

interface FragileOptions extends Partial<ServeGraphOptions> {
  readonly handleToolErrors?: boolean
  readonly gate?: () => Promise<void>
  readonly onAbort?: () => void
  readonly isPatient?: boolean
}

async function serveFragile(steps: readonly ModelStep[], options: FragileOptions = {}) {
  const { handleToolErrors = true, gate, onAbort, isPatient = false, ...rest } = options
  runs.length = 0
  const model = new FakeModel(steps, gate)
  const make = (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('agent', async ({ messages }, { signal }) => {
        signal.addEventListener('abort', () => onAbort?.())
        return { messages: [await model.invoke(messages)] }
      })
      .addNode('tools', new ToolNode([work], { handleToolErrors }))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition)
      .addEdge('tools', 'agent')
      .compile({ checkpointer })
    const agent = fromLangGraph(graph, { name: 'helper', config: { recursionLimit: 6 } })
    return isPatient ? withRetry(agent, { maxRetries: 2, delayMs: 0 }) : agent
  }
  return { model, served: await serveGraph({ make, ...rest }) }
}

const works = (id: string, what = 'x'): ModelStep => callChunks(id, 'work', { what })

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  it('a model that fails in the middle is one error, and the thread goes on', async () => {
    const { model, served } = await serveFragile([['Half a ', new Error('model-secret')], ['Fine.']])
    const talk = served.talk({ Client })
    await talk.say('Go').catch(() => undefined)
    const events = talk.streams[0]?.events ?? []
    expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain('secret')
    expect(textIn(await talk.say('Again'))).toBe('Fine.')
    expect(promptText(model.calls[1]).at(-1)).toBe('human: Again')
  })

  it('a run is cancelled: the model is stopped within a piece, and the thread goes on', async () => {
    const [speaking, mayGoOn] = [deferred(), deferred()]
    let count = 0
    const gate = (): Promise<void> => {
      if (++count !== 2) return Promise.resolve()
      speaking.resolve()
      return mayGoOn.promise
    }
    const { model, served } = await serveFragile([['One ', 'two ', 'three'], ['Here again.']], {
      gate,
      onAbort: () => mayGoOn.resolve(),
    })
    const talk = served.talk({ Client })
    const running = talk.say('Go').catch(() => undefined)
    await speaking.promise
    const { status } = await served.ask('POST /cancel', { body: { threadId: 'thread-1' } })
    expect(status).toBe(200)
    await running
    expect(count).toBe(2)
    expect(textIn(talk.streams[0]?.events ?? [])).toBe('One ')
    expect(textIn(await talk.say('And now?'))).toBe('Here again.')
    expect(promptText(model.calls[1]).at(-1)).toBe('human: And now?')
  })
})

it('a tool that fails: handled, the model gets the error', async () => {
  const { model, served } = await serveFragile([works('c1', 'bad'), ['Sorry.']])
  const events = await served.talk().say('Go')
  expect(textIn(events)).toBe('Sorry.')
  expect(resultsIn(events)[0]).toMatch(/^c1: /)
  expect(promptText(model.calls[1]).at(-1)).toMatch(/^tool: /)
})

it('a tool that fails: not handled, the run fails, and the thread goes on', async () => {
  const { model, served } = await serveFragile([works('c1', 'bad'), ['Fine.']], { handleToolErrors: false })
  const talk = served.talk()
  await talk.say('Go').catch(() => undefined)
  const events = talk.streams[0]?.events ?? []
  expect(ofType(events, 'RUN_ERROR')).toHaveLength(1)
  expect(JSON.stringify(events)).not.toContain('tool-secret')
  expect(textIn(await talk.say('Again'))).toBe('Fine.')
  // The open call has got an answer.
  expect(promptText(model.calls[1]).map((line) => line.split(':')[0])).toEqual([
    'human',
    'ai',
    'tool',
    'human',
  ])
  expect(runs).toEqual(['bad'])
})

it('too many steps are MAX_ITERATIONS', async () => {
  const { served } = await serveFragile([1, 2, 3, 4, 5, 6].map((place) => works(`c${place}`)))
  const talk = served.talk()
  await talk.say('Go').catch(() => undefined)
  expect(ofType(talk.streams[0]?.events ?? [], 'RUN_ERROR')).toMatchObject([{ code: 'MAX_ITERATIONS' }])
})

it('an interrupt without a checkpointer is INVALID_AGENT, and the log says what to do', async () => {
  const graph = new StateGraph(MessagesAnnotation)
    .addNode('ask', () => ({ messages: [interrupt<string, string>('Yes?')] }))
    .addEdge(START, 'ask')
    .compile()
  const seen: string[] = []
  const note = (fields: object, message: string): void =>
    void seen.push(`${message} ${JSON.stringify(fields)}`)
  const served = await serveAgents({
    agents: [fromLangGraph(graph, { name: 'asker' })],
    log: { debug: note, info: note, warn: note, error: note },
  })
  const talk = served.talk()
  await talk.say('Go').catch(() => undefined)
  expect(ofType(talk.streams[0]?.events ?? [], 'RUN_ERROR')).toMatchObject([{ code: 'INVALID_AGENT' }])
  expect(seen.join('\n')).toContain('compile it with one')
})

it('two runs at once on a thread: the second is refused, or waits', async () => {
  const [speaking, mayGoOn] = [deferred(), deferred()]
  const gate = (): Promise<void> => {
    speaking.resolve()
    return mayGoOn.promise
  }
  const { model, served } = await serveFragile([['One.'], ['Two.']], { gate })
  const running = served.talk().say('Go')
  await speaking.promise
  const second = await served.ask('POST /run', {
    body: inputOf({ runId: 'run-2', messages: [user('u2', 'Me too')] }),
  })
  expect(second.status).toBe(409)
  mayGoOn.resolve()
  expect(textIn(await running)).toBe('One.')
  expect(model.calls).toHaveLength(1)
})

it('hooks get the events of the graph, and may change and translate them', async () => {
  const seen: string[] = []
  const { served } = await serveFragile([works('c1'), ['Done.']], {
    hooks: {
      runtimeEvent(given) {
        const event = given as GraphEvent
        seen.push(event.type)
        return event.type === 'tool-start' ? [] : given
      },
      translate(given) {
        const event = given as GraphEvent
        if (event.type !== 'node-start') return undefined
        return [{ type: 'CUSTOM', name: 'node', value: event.node }]
      },
    },
  })
  const events = await served.talk().say('Go')
  expect(textIn(events)).toBe('Done.')
  expect(ofType(events, 'CUSTOM').map(({ value }) => value as unknown)).toEqual(['agent', 'tools', 'agent'])
  for (const type of ['node-start', 'model-chunk', 'model-end', 'tool-start', 'tool-end', 'values'])
    expect(seen).toContain(type)
})

it('who sends again after a failure goes on from the checkpoint, also with a new state', async () => {
  const State = Annotation.Root({
    ...MessagesAnnotation.spec,
    tools: Annotation<unknown[]>,
    word: Annotation<string>,
  })
  const ran: string[] = []
  const make = (checkpointer: BaseCheckpointSaver) =>
    fromLangGraph(
      new StateGraph(State)
        .addNode('one', () => {
          ran.push('one')
          return {}
        })
        .addNode('two', ({ word }) => {
          ran.push(`two ${word}`)
          if (ran.length === 2) throw new Error('not yet')
          return { messages: [{ role: 'assistant', content: 'Done.' }] }
        })
        .addEdge(START, 'one')
        .addEdge('one', 'two')
        .compile({ checkpointer }),
      { name: 'flow' },
    )
  const served = await serveGraph({ make })
  const talk = served.talk()
  talk.client.setState({ word: 'a' })
  await talk.say('Go').catch(() => undefined)
  expect(ran).toEqual(['one', 'two a'])
  talk.client.setState({ word: 'b' })
  expect(textIn(await talk.send())).toBe('Done.')
  expect(ran).toEqual(['one', 'two a', 'two b'])
})

describe('withRetry', () => {
  const busy = (): ModelStep => ['Half', Object.assign(new Error('busy'), { status: 503 })]

  it('a model that fails is called again, with the message once', async () => {
    const { model, served } = await serveFragile([busy(), busy(), ['Done.'], ['Bye.']], { isPatient: true })
    const talk = served.talk()
    const events = await talk.say('Go')
    expect(events.at(-1)?.type).toBe('RUN_FINISHED')
    expect(textsIn(events).at(-1)).toBe('Done.')
    expect(model.calls.map((call) => promptText(call))).toEqual([['human: Go'], ['human: Go'], ['human: Go']])
    await talk.say('Bye')
    expect(promptText(model.calls[3])).toEqual(['human: Go', 'ai: Done.', 'human: Bye'])
  })

  it('what has run does not run again: the graph goes on from its checkpoint', async () => {
    const { model, served } = await serveFragile([works('c1'), busy(), busy(), ['Done.'], ['Bye.']], {
      isPatient: true,
    })
    const talk = served.talk()
    const events = await talk.say('Go')
    expect(textsIn(events).at(-1)).toBe('Done.')
    expect([runs, resultsIn(events)]).toEqual([['x'], ['c1: did x']])
    expect(ofType(events, 'TOOL_CALL_START')).toHaveLength(1)
    const worked = ['human: Go', 'ai: work({"what":"x"})', 'tool: did x']
    for (const place of [1, 2, 3]) expect(promptText(model.calls[place])).toEqual(worked)
    await talk.say('Bye')
    expect(promptText(model.calls[4])).toEqual([...worked, 'ai: Done.', 'human: Bye'])
  })

  it('one error when it never works, and the thread goes on', async () => {
    const { model, served } = await serveFragile([works('c1'), busy(), busy(), busy(), ['Fine.']], {
      isPatient: true,
    })
    const talk = served.talk()
    await talk.say('Go').catch(() => undefined)
    expect(ofType(talk.streams[0]?.events ?? [], 'RUN_ERROR')).toMatchObject([
      { code: 'MAX_RETRIES_EXCEEDED' },
    ])
    expect(textIn(await talk.say('Again'))).toBe('Fine.')
    expect([runs, promptText(model.calls[4]).at(-1)]).toEqual([['x'], 'human: Again'])
  })
})

it('a graph is a tool of an agent of the kit: each call has a thread of its own', async () => {
  const model = new FakeModel([['Found one.'], ['Found two.']])
  const State = Annotation.Root({ ...MessagesAnnotation.spec })
  const make = (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(State)
      .addNode('agent', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
      .addEdge(START, 'agent')
      .compile({ checkpointer })
    const researcher = fromLangGraph(graph, { name: 'researcher', description: 'Researches.' })
    const boss = scriptedModel([
      [{ toolCall: { name: 'researcher', args: { request: 'one' } } }],
      [{ toolCall: { name: 'researcher', args: { request: 'two' } } }],
      'Both found.',
    ])
    return defineAgent({ name: 'boss', model: boss, tools: [agentTool(researcher)] })
  }
  const served = await serveGraph({ make })
  const events = await served.talk().say('Go')
  expect(ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual(['researcher', 'researcher'])
  expect(textsIn(events)).toEqual(['Found one.', 'Found two.', 'Both found.'])
  expect(model.calls.map((call) => call.length)).toEqual([1, 1])
})

it('a graph that is a tool of a kit agent may raise an interrupt, and resumes in its own thread', async () => {
  const make = (checkpointer: BaseCheckpointSaver) => {
    const graph = new StateGraph(MessagesAnnotation)
      .addNode('ask', () => {
        const answer = interrupt<string, string>('Which one?')
        return { messages: [{ role: 'assistant', content: `Chose ${answer}.` }] }
      })
      .addEdge(START, 'ask')
      .compile({ checkpointer })
    const chooser = fromLangGraph(graph, { name: 'chooser', description: 'Chooses.' })
    const boss = scriptedModel(({ messages }) =>
      messages.some(({ role }) => role === 'tool')
        ? 'Good.'
        : [{ toolCall: { name: 'chooser', args: { request: 'one' } } }],
    )
    return defineAgent({ name: 'boss', model: boss, tools: [agentTool(chooser)] })
  }
  const served = await serveGraph({ make, store: 'sqlite', checkpoints: 'sqlite' })
  const talk = served.talk()
  const [question] = interruptsIn(await talk.say('Go'))
  expect(question).toMatchObject({ message: 'Which one?' })
  const next = (await served.restart()).talk()
  next.client.setMessages(talk.client.messages)
  const resume = [{ interruptId: question?.id ?? '', status: 'resolved' as const, payload: 'red' }]
  const events = await next.send({ resume })
  expect(textsIn(events)).toEqual(['Chose red.', 'Good.'])
  expect(resultsIn(events).join()).toContain('Chose red.')
})
