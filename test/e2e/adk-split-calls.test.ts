/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import type { ResumeEntry } from '@ag-ui/core'
import {
  AuthCredentialTypes,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  Runner,
  SequentialAgent,
  START,
  StreamingMode,
  Workflow,
  type AuthConfig,
  type BaseAgent,
  type BaseLlm,
} from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import type { Content } from '../../src/adk/adk-types.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { mockGemini, type GeminiAnswer } from '../support/adk/mock-gemini.js'
import { partial, ScriptedLlm, whole, type LlmStep } from '../support/adk/scripted-llm.js'
import { callId, clientTool, interruptsIn, requestLines, serveAdk, textIn } from '../support/adk/serve-adk.js'
import { serveAgents } from '../support/serve-agents.js'

/** A chunk of an answer: a call of this tool, or a text. Every chunk becomes an event of its own. */
type Chunk = { readonly call: string } | { readonly text: string }
type Answer = readonly Chunk[]

interface Model {
  readonly model: () => BaseLlm
  /** The contents of each request. */
  readonly calls: readonly (readonly Content[])[]
}

function scripted(answers: readonly Answer[]): Promise<Model> {
  const toStep = (chunks: Answer): LlmStep =>
    chunks.flatMap((chunk) =>
      'call' in chunk
        ? [whole([{ functionCall: { name: chunk.call, args: {} } }])]
        : [partial(chunk.text), whole([{ text: chunk.text }])],
    )
  const llm = new ScriptedLlm(answers.map(toStep))
  return Promise.resolve({ model: () => llm, calls: llm.calls })
}

function gemini(answers: readonly Answer[]): Promise<Model> {
  const toAnswer = (chunks: Answer): GeminiAnswer => ({
    blocks: chunks.map((chunk) =>
      'call' in chunk ? { type: 'toolCall', name: chunk.call, arguments: '{}' } : { type: 'text', ...chunk },
    ),
    finishReason: 'stop',
  })
  return mockGemini(answers.map(toAnswer))
}

const calls = (...names: readonly string[]): Answer => names.map((call) => ({ call }))
const says = (text: string): Answer => [{ text }]

const ran: string[] = []
const backend = (name: string, requireConfirmation = false) =>
  new FunctionTool({
    name,
    description: name,
    parameters: z.object({}),
    requireConfirmation,
    execute: () => {
      ran.push(name)
      return { by: name }
    },
  })
const keyed = (name: string) => {
  const auth = {
    authScheme: { type: 'apiKey', name: 'X-Key', in: 'header' },
    rawAuthCredential: { authType: AuthCredentialTypes.API_KEY },
    credentialKey: name,
  } as AuthConfig
  return new FunctionTool({
    name,
    description: name,
    parameters: z.object({}),
    execute: (_, context) => {
      if (context?.getAuthResponse(auth)) return { by: name }
      context?.requestCredential(auth)
      return { status: 'waiting' }
    },
  })
}
const ownTools = [
  ...['mail', 'post', 'sign'].map(keyed),
  backend('look'),
  backend('find'),
  backend('remove', true),
  backend('pay', true),
]
const tools = ['ask', 'pick', 'third'].map(clientTool)

const roots: Readonly<Record<string, (model: () => BaseLlm) => BaseAgent | Workflow>> = {
  'an agent': (model) => new LlmAgent({ name: 'helper', model: model(), tools: ownTools }),
  'an agent in a sequence': (model) =>
    new SequentialAgent({
      name: 'line',
      subAgents: [new LlmAgent({ name: 'helper', model: model(), tools: ownTools })],
    }),
  'an agent that was transferred to': (model) =>
    new LlmAgent({
      name: 'boss',
      model: new ScriptedLlm([
        [whole([{ functionCall: { name: 'transfer_to_agent', args: { agentName: 'helper' } } }])],
      ]),
      subAgents: [new LlmAgent({ name: 'helper', model: model(), tools: ownTools })],
    }),
  'a node of a workflow': (model) =>
    new Workflow({
      name: 'flow',
      edges: [[START, new LlmAgent({ name: 'helper', model: model(), tools: ownTools })]],
    }),
}

const betweens = ['nothing', 'sessions are lost', 'threads are lost'] as const

interface SplitOptions {
  readonly answers: readonly Answer[]
  readonly make: (answers: readonly Answer[]) => Promise<Model>
  readonly root?: string
  readonly between?: (typeof betweens)[number]
}

interface AnswerOptions {
  readonly resume?: ResumeEntry[]
  /** What the user writes with it. */
  readonly text?: string
}

/** A conversation with an agent whose model sends its calls one by one. */
async function converse({ answers, make, root = 'an agent', between = 'nothing' }: SplitOptions) {
  ran.length = 0
  const { model, calls: requests } = await make(answers)
  const kept = between === 'threads are lost' ? { sessionService: new InMemorySessionService() } : {}
  const rootOf = roots[root]
  if (!rootOf) throw new Error(`There is no ${root}.`)
  const agent = () => fromAdk(rootOf(model), kept)
  const serve = () =>
    between === 'threads are lost'
      ? serveAgents({ agents: [agent()] })
      : serveAdk({ make: agent, store: between === 'nothing' ? 'memory' : 'sqlite' })
  let served = await serve()
  let talk = served.talk()
  return {
    requests,
    say: (text: string) => talk.say(text, { tools }),
    /** Loses something if that is to be done, and goes on. */
    async answer(results: Readonly<Record<string, string>>, { resume, text }: AnswerOptions = {}) {
      const { messages } = talk.client
      if (between === 'sessions are lost') served = await served.restart()
      if (between === 'threads are lost') served = await serve()
      talk = served.talk()
      talk.client.setMessages(messages)
      const parameters = { tools, ...(resume && { resume }) }
      if (text === undefined) return talk.answer(results, parameters)
      for (const [toolCallId, content] of Object.entries(results))
        talk.client.addMessage({ id: `t-${toolCallId}`, role: 'tool', toolCallId, content })
      return talk.say(text, parameters)
    },
  }
}

/** The requests of ADK's own Runner in the same conversation. */
async function bareRequests({ answers, make }: SplitOptions, texts: readonly string[]): Promise<string[][]> {
  const { model, calls: requests } = await make(answers)
  const agent = new LlmAgent({ name: 'helper', model: model(), tools: ownTools })
  const sessionService = new InMemorySessionService()
  const key = { appName: 'bare', userId: 'u', sessionId: 's' }
  await sessionService.createSession(key)
  const runner = new Runner({ appName: 'bare', agent, sessionService })
  const runConfig = { streamingMode: StreamingMode.SSE }
  for (const text of texts) {
    const newMessage = { role: 'user', parts: [{ text }] }
    for await (const _ of runner.runAsync({ ...key, newMessage, runConfig }));
  }
  return requests.map(requestLines)
}

const allAnswered = [
  'model: ask({}) | pick({}) | third({})',
  'user: ask -> {"result":"A"} | pick -> {"result":"B"} | third -> {"result":"C"}',
]

/** The last request, from the first call on. */
function lastRequest(requests: Model['calls']): string[] {
  const lines = requestLines(requests.at(-1))
  return lines.slice(lines.findIndex((line) => line.startsWith('model:')))
}

/** Answers all interrupts of a run; with undefined, one is cancelled. */
function answersTo(
  events: readonly AgUiEvent[],
  payloadOf: (toolCallId: string) => object | undefined,
): ResumeEntry[] {
  return interruptsIn(events).map(({ id: interruptId, toolCallId = '' }) => {
    const payload = payloadOf(toolCallId)
    return payload ? { interruptId, status: 'resolved', payload } : { interruptId, status: 'cancelled' }
  })
}

describe.each([
  ['a scripted model', scripted, betweens],
  ['Gemini', gemini, ['nothing'] as const],
])('calls in chunks of their own, of %s', (_, make, losses) => {
  describe.each(Object.keys(roots))('in %s', (root) => {
    it('the results of all of them reach the model', async () => {
      const talk = await converse({ answers: [calls('ask', 'pick', 'third'), says('Nice.')], make, root })
      const events = await talk.say('Go')
      const results = {
        [callId(events, 'ask')]: 'A',
        [callId(events, 'pick')]: 'B',
        [callId(events, 'third')]: 'C',
      }
      expect(textIn(await talk.answer(results))).toBe('Nice.')
      expect(lastRequest(talk.requests)).toEqual(allAnswered)
    })

    it.each(losses)('results may come in reverse, one by one; in between: %s', async (between) => {
      const answers = [calls('ask', 'pick', 'third'), says('Nice.')]
      const talk = await converse({ answers, make, root, between })
      const events = await talk.say('Go')
      await talk.answer({ [callId(events, 'third')]: 'C' })
      await talk.answer({ [callId(events, 'pick')]: 'B' })
      expect(talk.requests).toHaveLength(1)
      expect(textIn(await talk.answer({ [callId(events, 'ask')]: 'A' }))).toBe('Nice.')
      expect(lastRequest(talk.requests)).toEqual(allAnswered)
    })

    it('what the user writes with results and answers follows them', async () => {
      const answers = [calls('ask', 'remove', 'pick'), says('Nice.')]
      const talk = await converse({ answers, make, root })
      const events = await talk.say('Go')
      const results = { [callId(events, 'ask')]: 'A', [callId(events, 'pick')]: 'B' }
      const resume = answersTo(events, () => ({ approved: true }))
      expect(textIn(await talk.answer(results, { resume, text: 'Be quick.' }))).toBe('Nice.')
      expect(lastRequest(talk.requests)).toEqual([
        'model: ask({}) | remove({}) | pick({})',
        'user: ask -> {"result":"A"} | remove -> {"by":"remove"} | pick -> {"result":"B"}',
        'user: Be quick.',
      ])
      expect(requestLines(talk.requests[1])[0]).toBe('user: Go')
    })

    it('what the user writes with results alone follows them', async () => {
      const talk = await converse({ answers: [calls('ask'), says('Nice.')], make, root })
      const results = { [callId(await talk.say('Go'), 'ask')]: 'A' }
      await talk.answer(results, { text: 'Be quick.' })
      expect(lastRequest(talk.requests)).toEqual([
        'model: ask({})',
        'user: ask -> {"result":"A"}',
        'user: Be quick.',
      ])
    })

    it.each(losses)('a backend tool among client tools keeps its result; in between: %s', async (between) => {
      const answers = [calls('ask', 'look', 'pick'), says('Nice.')]
      const talk = await converse({ answers, make, root, between })
      const events = await talk.say('Go')
      const results = { [callId(events, 'pick')]: 'B', [callId(events, 'ask')]: 'A' }
      expect(textIn(await talk.answer(results))).toBe('Nice.')
      expect(ran).toEqual(['look'])
      expect(lastRequest(talk.requests)).toEqual([
        'model: ask({}) | look({}) | pick({})',
        'user: ask -> {"result":"A"} | look -> {"by":"look"} | pick -> {"result":"B"}',
      ])
    })
  })

  it.each(losses)('texts between them stay where they were; in between: %s', async (between) => {
    const mixed = [{ call: 'ask' }, { text: 'And. ' }, { call: 'look' }, { text: 'Then. ' }, { call: 'pick' }]
    const answers = [[...mixed, { text: 'Last.' }], says('Nice.'), says('Bye.')]
    const talk = await converse({ answers, make, between })
    const events = await talk.say('Go')
    await talk.answer({ [callId(events, 'ask')]: 'A', [callId(events, 'pick')]: 'B' })
    await talk.say('Bye')
    expect(requestLines(talk.requests[2])).toEqual([
      'user: Go',
      'model: ask({}) | And.  | look({}) | Then.  | pick({}) | Last.',
      'user: ask -> {"result":"A"} | look -> {"by":"look"} | pick -> {"result":"B"}',
      'model: Nice.',
      'user: Bye',
    ])
  })

  it.each(losses)('tools that need approval among others run once; in between: %s', async (between) => {
    const answers = [calls('look', 'remove', 'ask', 'find', 'pay'), says('Nice.')]
    const talk = await converse({ answers, make, between })
    const events = await talk.say('Go')
    const resume = answersTo(events, () => ({ approved: true }))
    await talk.answer({ [callId(events, 'ask')]: 'A' }, { resume })
    expect(ran).toEqual(['look', 'find', 'remove', 'pay'])
    expect(requestLines(talk.requests[1])).toEqual([
      'user: Go',
      'model: look({})',
      'user: look -> {"by":"look"}',
      'model: remove({}) | ask({}) | find({}) | pay({})',
      'user: remove -> {"by":"remove"} | ask -> {"result":"A"} | find -> {"by":"find"} | pay -> {"by":"pay"}',
    ])
  })

  it.each(losses)('tools get their credentials, one of them none; in between: %s', async (between) => {
    const talk = await converse({ answers: [calls('mail', 'post', 'sign'), says('Nice.')], make, between })
    const events = await talk.say('Go')
    const resume = answersTo(events, (toolCallId) =>
      toolCallId === callId(events, 'post') ? undefined : { apiKey: 'k' },
    )
    expect(textIn(await talk.answer({}, { resume }))).toBe('Nice.')
    expect(requestLines(talk.requests[1])).toEqual([
      'user: Go',
      'model: mail({}) | post({}) | sign({})',
      expect.stringMatching(/mail -> {"by":"mail"} .* post -> {"error":.*} .* sign -> {"by":"sign"}/),
    ])
  })

  it('those of the agent’s own tools alone reach the model as ADK’s Runner sends them', async () => {
    const answers = [calls('look', 'find'), says('Nice.'), says('Bye.')]
    const bare = await bareRequests({ answers, make }, ['Go', 'Thanks'])
    const talk = await converse({ answers, make })
    await talk.say('Go')
    await talk.say('Thanks')
    expect(talk.requests.map(requestLines)).toEqual(bare)
    // ADK runs the tool of a chunk before it reads the next one.
    expect(bare[1]).toEqual([
      'user: Go',
      'model: look({})',
      'user: look -> {"by":"look"}',
      'model: find({})',
      'user: find -> {"by":"find"}',
    ])
  })

  it('one that is never answered stands with its answer, and the next answer for itself', async () => {
    const answers = [calls('ask', 'look', 'pick'), calls('third', 'find'), says('Nice.')]
    const talk = await converse({ answers, make })
    await talk.say('Go')
    const events = await talk.say('Never mind')
    await talk.answer({ [callId(events, 'third')]: 'C' })
    const [, model, results, ...rest] = requestLines(talk.requests[2])
    expect(model).toBe('model: ask({}) | look({}) | pick({})')
    expect(results).toMatch(/ask -> .*no_result.* look -> {"by":"look"} .* pick -> .*no_result/)
    expect(rest).toEqual([
      'user: Never mind',
      'model: third({}) | find({})',
      'user: third -> {"result":"C"} | find -> {"by":"find"}',
    ])
  })
})
