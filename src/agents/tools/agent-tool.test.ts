import { describe, expect, test } from 'vitest'
import {
  aborted,
  createClient,
  deferred,
  idOf,
  interruptsOf,
  ofType,
  play,
  resultsIn,
  settled,
  linted,
} from '../../../test/support/run-agent.js'
import { scriptedModel, type Script } from '../../models/index.js'
import { linesOf, saying, startedIn, textsIn } from '../../../test/support/tree-agents.js'
import type { Agent, Control, Tool, ToolContext } from '../contract.js'
import { agentTool } from './agent-tool.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { defineTool } from './define-tool.js'
import { exitTool } from './control-tools.js'
import { run } from '../run/run.js'
import { loop } from '../workflows/loop.js'
import { sequential } from '../workflows/sequential.js'

const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })
const callAgent = (id: string, name: string) => call(id, name, { request: `Do ${id}.` })

function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

function agentOf(name: string, script: Script, options: Partial<AgentOptions> = {}): Agent {
  return defineAgent({ name, description: `The ${name}.`, model: scriptedModel(script), ...options })
}

const book = toolOf('book', async ({ interrupt, toolCallId }) => {
  const answer = await interrupt({ message: `Book ${toolCallId}?` })
  return answer.status === 'resolved' ? `booked ${JSON.stringify(answer.payload)}` : 'dropped'
})

describe('an agent as a tool', () => {
  test('gets a request, shows live what it does, and its last text is the result', async () => {
    const model = scriptedModel([[{ reasoning: 'Hm.' }, 'Wait.', call('i1', 'look')], 'It rains.'])
    const inner = defineAgent({
      name: 'scout',
      description: 'Looks.',
      model,
      tools: [toolOf('look', () => 'rain')],
    })
    const outer = agentOf('chief', [[callAgent('o1', 'scout')], 'Take a coat.'], {
      tools: [agentTool(inner)],
    })
    const { events, outcome } = await play(outer, 'Rain?')
    const [started] = ofType(events, 'SUBAGENT_STARTED')
    expect(started).toMatchObject({ name: 'scout', description: 'Looks.', parentToolCallId: 'o1' })
    const inside = events.filter(
      (event) => 'subagentRunId' in event && event.subagentRunId === started?.subagentRunId,
    )
    expect(inside.map(({ type }) => type)).toContain('REASONING_MESSAGE_CONTENT')
    expect(resultsIn(events)).toEqual(['i1: rain', 'o1: It rains.'])
    expect(model.requests[0]?.messages).toMatchObject([{ role: 'user', content: 'Do o1.' }])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Take a coat.' })
  })

  test('keeps its conversation to itself', async () => {
    const model = scriptedModel([[callAgent('o1', 'scout')], 'Take a coat.', 'Still.'])
    const inner = agentOf('scout', ['It rains.', 'Sun.'])
    const outer = defineAgent({ name: 'chief', model, tools: [agentTool(inner)] })
    const client = createClient(outer)
    await client.say('Rain?')
    await client.say('And now?')
    expect(model.requests[2]?.messages.map(({ role, content }) => [role, content])).toEqual([
      ['user', 'Rain?'],
      ['assistant', undefined],
      ['tool', 'It rains.'],
      ['assistant', 'Take a coat.'],
      ['user', 'And now?'],
    ])
  })

  test.each<[string, Agent, string]>([
    ['structured output', agentOf('inner', ['{"a":1}'], { output: { type: 'object' } }), '{"a":1}'],
    [
      'an exit',
      agentOf('inner', [[call('i1', 'exit', { final_result: 'out' })]], { tools: [exitTool()] }),
      'out',
    ],
    ['no word', agentOf('inner', [[]]), ''],
    ['a failure', agentOf('inner', [[{ error: { status: 400, message: 'refused' } }]]), 'Error: refused'],
  ])('that ends with %s tells it to the parent, which goes on', async (_how, inner, content) => {
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    const { events, outcome } = await play(outer, 'Go.')
    expect(resultsIn(events).at(-1)).toBe(`o1: ${content}`)
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(outcome).not.toHaveProperty('result')
  })

  test('does not take a rejected answer for its own', async () => {
    const direct = defineTool({ name: 'direct', description: 'd', execute: () => '' })
    const inner = agentOf('inner', [['Half', { error: { status: 503 } }], [call('i1', 'direct')], []], {
      tools: [direct],
      retry: { initialDelayMs: 0 },
    })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    expect(resultsIn((await play(outer, 'Go.')).events).at(-1)).toBe('o1: ')
  })

  test('shares values and state with its parent', async () => {
    const write = toolOf('write', ({ values, setState }) => {
      values.set('seen', 'by inner')
      setState({ by: 'inner' })
    })
    const read = toolOf('read', ({ values, state }) => ({ seen: values.get('seen'), state }))
    const inner = agentOf('inner', [[call('i1', 'write')], 'Written.'], { tools: [write] })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], [call('o2', 'read')], 'Done.'], {
      tools: [agentTool(inner), read],
    })
    const { events, outcome } = await play(outer, 'Go.')
    expect(resultsIn(events).at(-1)).toBe('o2: {"seen":"by inner","state":{"by":"inner"}}')
    expect(outcome.state).toEqual({ by: 'inner' })
  })

  test('has its tokens counted', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const inner = agentOf('inner', [['Yes.', { usage }]])
    const outer = agentOf(
      'outer',
      [
        [callAgent('o1', 'inner'), { usage }],
        ['Done.', { usage }],
      ],
      {
        tools: [agentTool(inner)],
      },
    )
    expect((await play(outer, 'Go.')).outcome.usage).toMatchObject([{ inputTokens: 3, totalTokens: 6 }])
  })

  test('is not offered the tools of the client: it has to answer in this run', async () => {
    const model = scriptedModel(['Done.'])
    const inner = defineAgent({ name: 'inner', description: 'Inner.', model })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    await createClient(outer, [{ name: 'paint', description: 'Paints.' }]).say('Go.')
    expect(model.requests[0]).not.toHaveProperty('tools')
  })

  test('may use the call ids its parent uses', async () => {
    const look = toolOf('look', () => 'seen')
    const inner = agentOf('inner', [[call('1', 'look')], [call('1', 'look')], 'Inner.'], { tools: [look] })
    const outer = agentOf(
      'outer',
      [[callAgent('1', 'inner'), call('2', 'look')], [call('1', 'look')], 'Done.'],
      {
        tools: [agentTool(inner), look],
      },
    )
    const { events } = await play(outer, 'Go.')
    const calls = ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)
    expect(new Set(calls).size).toBe(5)
    expect(resultsIn(events).map((line) => line.replace(/^.*: /, ''))).toEqual([
      ...['seen', 'seen', 'Inner.', 'seen', 'seen'],
    ])
  })

  test('says when it is used without a request', async () => {
    const outer = agentOf('outer', [[call('o1', 'inner')], 'Done.'], {
      tools: [agentTool(agentOf('inner', []))],
    })
    expect(resultsIn((await play(outer, 'Go.')).events)).toEqual([
      "o1: Error: The arguments of agent 'inner' do not fit:\n- $.request: is required",
    ])
  })

  test('needs a description', () => {
    const nameless = defineAgent({ name: 'inner', model: scriptedModel([]) })
    expect(() => agentTool(nameless)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
  })

  test('is held back by a slow reader like everything else', async () => {
    let written = 0
    const model = scriptedModel(() => {
      const pieces = Array.from({ length: 500 }, () => ({ wait: () => Promise.resolve(written++) }))
      return pieces.flatMap((piece) => [piece, 'word '])
    })
    const inner = defineAgent({ name: 'inner', description: 'Talks.', model })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    const running = run(outer, 'Go.', { bufferSize: 4 })
    for await (const event of linted(running, 'Go.')) {
      if (event.type !== 'TEXT_MESSAGE_CONTENT') continue
      for (let turn = 0; turn < 10; turn++) await settled()
      expect(written).toBeLessThan(50)
      break
    }
  })

  test('stops with its parent: the model of the agent inside is aborted and what it started cleans up', async () => {
    const log: string[] = []
    const model = scriptedModel(({ signal }) => {
      signal.addEventListener('abort', () => log.push('inner model aborted'))
      return ['One ', { wait: aborted }]
    })
    const inner = defineAgent({ name: 'inner', description: 'Talks.', model })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')]], { tools: [agentTool(inner)] })
    const running = run(outer, 'Go.')
    for await (const event of linted(running, 'Go.')) if (event.type === 'TEXT_MESSAGE_CONTENT') break
    expect((await running.result).type).toBe('cancelled')
    expect(log).toEqual(['inner model aborted'])
  })
})

describe('an interrupt of an agent inside a tool', () => {
  test('two agents deep ends the run once, and its answer completes both', async () => {
    const innermost = agentOf('innermost', [[call('i1', 'book')], 'Booked.'], { tools: [book] })
    const middle = agentOf('middle', [[callAgent('m1', 'innermost')], 'Middle done.'], {
      tools: [agentTool(innermost)],
    })
    const outer = agentOf('outer', [[callAgent('o1', 'middle')], 'All done.'], { tools: [agentTool(middle)] })
    const client = createClient(outer)
    const first = await client.say('Go.')
    expect(interruptsOf(first)).toMatchObject([{ toolCallId: 'i1', message: 'Book i1?' }])
    const subagents = ofType(first.events, 'SUBAGENT_STARTED')
    expect(subagents.map(({ name }) => name)).toEqual(['middle', 'innermost'])
    expect(ofType(first.events, 'SUBAGENT_FINISHED').map(({ outcome }) => outcome)).toEqual([
      { type: 'suspended', interruptIds: [idOf(first)] },
      { type: 'suspended', interruptIds: [idOf(first)] },
    ])

    const second = await client.answer({ [idOf(first)]: 7 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'All done.' })
    expect(resultsIn(second.events)).toEqual(['i1: booked 7', 'm1: Booked.', 'o1: Middle done.'])
    // The client can tell that they go on.
    expect(ofType(second.events, 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)).toEqual(
      subagents.map(({ subagentRunId }) => subagentRunId),
    )
  })

  test('answered alone leaves its siblings as they are: they are raised again and not entered', async () => {
    const entered: string[] = []
    const inner = defineAgent({
      name: 'inner',
      description: 'Inner.',
      instructions: ({ span }) => {
        entered.push(span.address)
        return ''
      },
      model: scriptedModel((request) => {
        const done = request.messages.some(({ role }) => role === 'tool')
        return done ? 'Booked.' : [call(crypto.randomUUID(), 'book')]
      }),
      tools: [book],
    })
    const outer = agentOf('outer', [[callAgent('o1', 'inner'), callAgent('o2', 'inner')], 'Done.'], {
      tools: [agentTool(inner)],
    })
    const client = createClient(outer)
    const first = await client.say('Go.')
    const [one, two] = interruptsOf(first)
    expect(entered).toHaveLength(2)
    const second = await client.answer({ [String(two?.id)]: 2 })
    expect(interruptsOf(second).map(({ id }) => id)).toEqual([one?.id])
    expect(entered).toHaveLength(3)
    expect(resultsIn(second.events).at(-1)).toBe('o2: Booked.')
    const third = await client.answer({ [String(one?.id)]: 1 })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('comes back after an answer: the agent goes on where it was', async () => {
    const inner = agentOf(
      'inner',
      [['First.', call('i1', 'book')], ['Second.', call('i2', 'book')], 'Both.'],
      {
        tools: [book],
      },
    )
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    const client = createClient(outer)
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(interruptsOf(second)).toMatchObject([{ toolCallId: 'i2' }])
    const third = await client.answer({ [idOf(second)]: 2 })
    expect(resultsIn(third.events)).toEqual(['i2: booked 2', 'o1: Both.'])
  })
})

describe('a tool that runs agents by itself', () => {
  const helper = (name: string) => agentOf(name, () => [call(crypto.randomUUID(), 'book')], { tools: [book] })
  const finish = defineAgent({
    name: 'finisher',
    description: 'Finishes.',
    model: scriptedModel((request) =>
      request.messages.some(({ role }) => role === 'tool')
        ? 'Finished.'
        : [call(crypto.randomUUID(), 'book')],
    ),
    tools: [book],
  })

  async function drain(source: ReturnType<ToolContext['delegate']>): Promise<unknown> {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
    }
  }

  test('need not care about their events and interrupts', async () => {
    const work = toolOf('work', async ({ delegate }) => {
      await drain(delegate(finish, { messages: [] }))
      return 'worked'
    })
    const client = createClient(agentOf('outer', [[call('o1', 'work')], 'Done.'], { tools: [work] }))
    const first = await client.say('Go.')
    expect(ofType(first.events, 'SUBAGENT_STARTED')).toMatchObject([
      { name: 'finisher', parentToolCallId: 'o1' },
    ])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(second.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(resultsIn(second.events).at(-1)).toBe('o1: worked')
  })

  test('keeps its own answers while an agent of it is interrupted', async () => {
    let asked = 0
    const work = toolOf('work', async ({ delegate, interrupt }) => {
      asked++
      const answer = await interrupt({ message: 'Start?' })
      await drain(delegate(finish, { messages: [] }))
      return answer
    })
    const client = createClient(agentOf('outer', [[call('o1', 'work')], 'Done.'], { tools: [work] }))
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first, 'Start?')]: 'go' })
    expect(interruptsOf(second)).toMatchObject([{ message: expect.stringMatching(/^Book/) as string }])
    const third = await client.answer({ [idOf(second)]: 1 })
    expect(third.outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(resultsIn(third.events).at(-1)).toBe('o1: {"status":"resolved","payload":"go"}')
    expect(asked).toBe(3)
  })

  test('may run one agent twice: each has interrupts of its own', async () => {
    const work = toolOf('work', async ({ delegate }) => {
      const agent = helper('twin')
      const both = [delegate(agent, { messages: [] }), delegate(agent, { messages: [] })]
      const ends = await Promise.allSettled(both.map(drain))
      for (const end of ends) if (end.status === 'rejected') throw end.reason
      return 'never'
    })
    const client = createClient(agentOf('outer', [[call('o1', 'work')], 'Done.'], { tools: [work] }))
    const first = await client.say('Go.')
    const ids = ofType(first.events, 'SUBAGENT_STARTED').map(({ subagentRunId }) => subagentRunId)
    expect(new Set(ids).size).toBe(2)
    expect(ids.some((id) => id.includes('#'))).toBe(false)
    // The tool threw one of them on, and swallowed the other.
    expect(interruptsOf(first)).toHaveLength(2)
  })
})

/** As somebody may write it by hand. */
function ownTool(agent: Agent): Tool {
  return toolOf(agent.name, async ({ delegate }) => {
    const source = delegate(agent, { messages: [] })
    for (;;) {
      const step = await source.next()
      if (step.done === true) return 'result' in step.value ? step.value.result : ''
    }
  })
}

test.each([
  ['by agentTool', (agent: Agent) => agentTool(agent)],
  ['by hand', ownTool],
])(
  'an agent stopped at a safe point has not answered: it goes on where it was, run %s',
  async (_, toTool) => {
    const begun = deferred()
    const door = deferred()
    let slowly = 0
    const slow = toolOf('slow', async () => {
      begun.resolve()
      await door.promise
      return `slow ${++slowly}`
    })
    const inner = agentOf('inner', [['Half a word', call('i1', 'slow')], 'Whole.'], { tools: [slow] })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [toTool(inner)] })
    const running = run(outer, { threadId: 't', messages: [] })
    await begun.promise
    running.cancel({ at: 'tools' })
    door.resolve()
    const stopped = await running.result
    expect(stopped.type).toBe('cancelled')
    expect(linesOf(stopped.messages).filter((line) => line.startsWith('tool'))).toEqual(['tool: slow 1'])
    const { events, outcome } = await play(outer, { threadId: 't' }, { checkpoint: stopped.checkpoint })
    expect(resultsIn(events)).toEqual(['o1: Whole.'])
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
    expect(slowly).toBe(1)
  },
)

describe('what an agent as a tool is told', () => {
  test('is its input as JSON when it has a schema, and what does not fit is told to the model', async () => {
    const model = scriptedModel(['Sunny.'])
    const inner = defineAgent({ name: 'inner', description: 'Inner.', model })
    const input = {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    } as const
    const outer = agentOf(
      'outer',
      [[call('o1', 'inner', { city: 3 })], [call('o2', 'inner', { city: 'Oslo' })], 'Done.'],
      { tools: [agentTool(inner, { input })] },
    )
    const { events } = await play(outer, 'Go.')
    expect(resultsIn(events)).toEqual([
      expect.stringMatching(/^o1: Error: The arguments of agent 'inner' do not fit/) as string,
      'o2: Sunny.',
    ])
    expect(model.requests.map(({ messages }) => linesOf(messages))).toEqual([['user: {"city":"Oslo"}']])
  })

  test('is all that its caller has heard, when it is to hear that: as context, without instructions', async () => {
    const model = scriptedModel(['Sunny.'])
    const inner = defineAgent({ name: 'inner', description: 'Inner.', model })
    const outer = agentOf(
      'outer',
      [['Let me see.', call('o1', 'look')], [{ reasoning: 'Hm.' }, callAgent('o2', 'inner')], 'Done.'],
      { tools: [agentTool(inner, { history: 'full' }), toolOf('look', () => 'seen')] },
    )
    await play(outer, [
      { id: 's', role: 'system', content: 'Be nice.' },
      { id: 'u', role: 'user', content: 'Go.' },
    ])
    expect(linesOf(model.requests[0]?.messages)).toEqual([
      'user: Go.',
      'user: For context: [outer] said: Let me see.\n[outer] called tool `look` with arguments: {}',
      'user: For context: [outer] tool `look` returned: seen',
      'user: For context: [outer] called tool `inner` with arguments: {"request":"Do o2."}',
      'user: Do o2.',
    ])
  })
})

describe('an agent as a tool that is not shown', () => {
  test('works unseen: nothing of it reaches the client but its answer', async () => {
    const inner = agentOf('inner', [['Looking.', call('i1', 'look')], 'Seen.'], {
      tools: [toolOf('look', () => 'it')],
    })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], {
      tools: [agentTool(inner, { isShown: false })],
    })
    const { events, outcome } = await play(outer, 'Go.')
    expect(startedIn(events)).toEqual([])
    expect(textsIn(events)).toEqual(['Done.'])
    expect(resultsIn(events)).toEqual(['o1: Seen.'])
    expect(linesOf(outcome.messages)).toEqual([
      'user: Go.',
      'assistant: -> inner',
      'tool: Seen.',
      'assistant: Done.',
    ])
  })

  test('raises interrupts all the same, and resumes with its messages', async () => {
    const model = scriptedModel([['Looking.', call('i1', 'book')], 'Booked.'])
    const inner = defineAgent({ name: 'inner', description: 'Inner.', model, tools: [book] })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], {
      tools: [agentTool(inner, { isShown: false })],
    })
    const client = createClient(outer)
    const first = await client.say('Go.')
    // Clients know this call, and not the one behind it.
    expect(interruptsOf(first)).toMatchObject([{ message: 'Book i1?', toolCallId: 'o1' }])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(resultsIn(second.events)).toEqual(['o1: Booked.'])
    expect(linesOf(model.requests[1]?.messages)).toEqual([
      'user: Do o1.',
      'assistant: Looking.',
      'assistant: -> book',
      'tool: booked 1',
    ])
  })

  test('may use an id for a call again, also after an interrupt', async () => {
    let looked = 0
    const inner = agentOf(
      'inner',
      [[call('x', 'look'), call('q', 'book')], [call('x', 'look'), call('q', 'book')], 'Seen.'],
      { tools: [toolOf('look', () => ++looked), book] },
    )
    const client = createClient(
      agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], {
        tools: [agentTool(inner, { isShown: false })],
      }),
    )
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(looked).toBe(2)
    const third = await client.answer({ [idOf(second)]: 2 })
    expect(resultsIn(third.events)).toEqual(['o1: Seen.'])
  })

  test("made of several agents: they see each other's messages, also after an interrupt", async () => {
    const writer = scriptedModel(['Draft.'])
    const asker = scriptedModel([[call('i1', 'book')], 'Asked.'])
    const editor = scriptedModel(['Edited.'])
    const flow = sequential({
      name: 'flow',
      description: 'Flow.',
      agents: [
        defineAgent({ name: 'writer', model: writer }),
        defineAgent({ name: 'asker', model: asker, tools: [book] }),
        defineAgent({ name: 'editor', model: editor }),
      ],
    })
    const outer = agentOf('outer', [[callAgent('o1', 'flow')], 'Done.'], {
      tools: [agentTool(flow, { isShown: false })],
    })
    const client = createClient(outer)
    const first = await client.say('Go.')
    expect(linesOf(asker.requests[0]?.messages)).toEqual([
      'user: Do o1.',
      'user: For context: [writer] said: Draft.',
    ])
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(resultsIn(second.events)).toEqual(['o1: Edited.'])
    expect(linesOf(editor.requests[0]?.messages)).toEqual([
      'user: Do o1.',
      'user: For context: [writer] said: Draft.',
      'user: For context: [asker] called tool `book` with arguments: {}',
      'user: For context: [asker] tool `book` returned: booked 1',
      'user: For context: [asker] said: Asked.',
    ])
    expect(linesOf(second.outcome.messages)).toEqual([
      'user: Go.',
      'assistant: -> flow',
      'tool: Edited.',
      'assistant: Done.',
    ])
  })

  test('forgets rejected messages', async () => {
    const second = scriptedModel(['Second.'])
    const flow = sequential({
      name: 'flow',
      description: 'Flow.',
      agents: [
        agentOf('first', [['Half', { error: { status: 503 } }], 'Whole.'], { retry: { initialDelayMs: 0 } }),
        defineAgent({ name: 'second', model: second }),
      ],
    })
    const outer = agentOf('outer', [[callAgent('o1', 'flow')], 'Done.'], {
      tools: [agentTool(flow, { isShown: false })],
    })
    await play(outer, 'Go.')
    expect(linesOf(second.requests[0]?.messages)).toEqual([
      'user: Do o1.',
      'user: For context: [first] said: Whole.',
    ])
  })
})

describe('an agent as a tool made of others', () => {
  test.each<[string, Agent, string]>([
    [
      'a sequence',
      sequential({ name: 'inner', description: 'd', agents: [saying('a', 'A.'), saying('b', 'B.')] }),
      'B.',
    ],
    [
      'a loop',
      loop({ name: 'inner', description: 'd', agents: [saying('a', 'A.', { type: 'break' })] }),
      'A.',
    ],
    [
      'a team',
      agentOf('inner', [['Moment.', call('t', 'transfer_to_agent', { agent_name: 'b' })]], {
        subAgents: [saying('b', 'B.')],
      }),
      'B.',
    ],
    ['one written in chunks', chunky('inner'), 'In chunks.'],
  ])('gives the last words of %s', async (_what, inner, content) => {
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    const { events, outcome } = await play(outer, 'Go.')
    expect(resultsIn(events).at(-1)).toBe(`o1: ${content}`)
    expect(outcome).toMatchObject({ type: 'completed', text: 'Done.' })
  })

  test('returns its last text also when it was written before an interrupt', async () => {
    const silent = agentOf('silent', [[call('i1', 'book')], []], { tools: [book] })
    const flow = sequential({ name: 'flow', description: 'd', agents: [saying('a', 'A.'), silent] })
    const client = createClient(
      agentOf('outer', [[callAgent('o1', 'flow')], 'Done.'], { tools: [agentTool(flow)] }),
    )
    const first = await client.say('Go.')
    const second = await client.answer({ [idOf(first)]: 1 })
    expect(resultsIn(second.events).at(-1)).toBe('o1: A.')
  })

  test('does not give the words of agents behind its own tools', async () => {
    const deep = agentOf('deep', ['Deep.'])
    const inner = agentOf('inner', [['Inner.', callAgent('i1', 'deep')], []], { tools: [agentTool(deep)] })
    const outer = agentOf('outer', [[callAgent('o1', 'inner')], 'Done.'], { tools: [agentTool(inner)] })
    expect(resultsIn((await play(outer, 'Go.')).events)).toEqual(['i1: Deep.', 'o1: Inner.'])
  })
})

describe('what stays inside an agent as a tool', () => {
  test.each<[string, Agent]>([
    ['an exit', saying('inner', 'Bye.', { type: 'exit' })],
    ['a transfer', saying('inner', 'Bye.', { type: 'transfer', to: 'other' })],
    ['a break', saying('inner', 'Bye.', { type: 'break' })],
  ])('is %s: the agent that called goes on, and so does the loop around it', async (_what, inner) => {
    let turns = 0
    const outer = agentOf(
      'outer',
      (request) =>
        request.messages.at(-1)?.role === 'tool'
          ? `Round ${++turns}.`
          : [callAgent(crypto.randomUUID(), 'inner')],
      { tools: [agentTool(inner)], subAgents: [saying('other', 'Never.')] },
    )
    const flow = loop({ name: 'round', agents: [outer], maxIterations: 2 })
    const { events, outcome } = await play(flow, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Round 2.' })
    expect(startedIn(events).filter((name) => name === 'other')).toEqual([])
  })

  test('is a failure, which the model is told; or not, when the agent that calls is to fail then', async () => {
    const sudden: Agent = {
      name: 'inner',
      description: 'd',
      run() {
        throw new Error('sudden')
      },
    }
    const script: Script = [[callAgent('o1', 'inner')], 'Done.']
    const told = await play(agentOf('outer', script, { tools: [agentTool(sudden)] }), 'Go.')
    expect(resultsIn(told.events)).toEqual(['o1: Error: sudden'])
    expect(told.outcome.type).toBe('completed')
    const thrown = await play(
      agentOf('outer', script, { tools: [agentTool(sudden)], onToolError: 'throw' }),
      'Go.',
    )
    expect(thrown.outcome).toMatchObject({ type: 'failed', error: { code: 'TOOL_ERROR' } })
  })

  test('is what agents three deep do: each span is below the one of its caller, and each hears only its own', async () => {
    const model = scriptedModel(['Deepest.'])
    const deepest = defineAgent({ name: 'deepest', description: 'd', model })
    const middle = agentOf('middle', [['Mid.', callAgent('m1', 'deepest')], 'Middle.'], {
      tools: [agentTool(deepest)],
    })
    const outer = agentOf('outer', [[callAgent('o1', 'middle')], 'Done.'], { tools: [agentTool(middle)] })
    const { events, outcome } = await play(outer, 'Go.')
    const [first, second] = ofType(events, 'SUBAGENT_STARTED')
    expect(first).toMatchObject({ name: 'middle', parentToolCallId: 'o1' })
    expect(second).toMatchObject({
      name: 'deepest',
      parentToolCallId: 'm1',
      parentSubagentRunId: first?.subagentRunId,
    })
    expect(linesOf(model.requests[0]?.messages)).toEqual(['user: Do m1.'])
    expect(outcome).toMatchObject({ text: 'Done.' })
  })
})

function chunky(name: string): Agent {
  return {
    name,
    description: `The ${name}.`,
    async *run({ services }) {
      const messageId = services.newId('message')
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId, role: 'assistant', delta: 'In ' }
      yield { type: 'TEXT_MESSAGE_CHUNK', messageId, delta: 'chunks.' }
      return await Promise.resolve<Control>({ type: 'done' })
    },
  }
}
