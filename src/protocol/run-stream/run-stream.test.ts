import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { brief } from '../../../test/support/brief.js'
import { MillraceError } from '../../core/errors.js'
import { sequentialIds } from '../../core/ids.js'
import { assertValidStream } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent, RunEnd, RunStreamOptions } from '../contract.js'
import { createRunStream } from './run-stream.js'

interface Setup extends Partial<RunStreamOptions> {
  end?: RunEnd | Error
}

/** Runs loose events through a run stream and checks the outcome with the linter. */
function run(events: AgentEvent[], { end = { type: 'success' }, ...options }: Setup = {}) {
  const out: AgUiEvent[] = []
  const problems: string[] = []
  const stream = createRunStream({
    threadId: 't',
    runId: 'r',
    emit: (event) => out.push(event),
    onProblem: (problem) => problems.push(problem),
    newId: sequentialIds(),
    ...options,
  })
  for (const event of events) stream.write(event)
  if (end instanceof Error) stream.fail(end)
  else stream.finish(end)
  const { messages = [], state } = options
  assertValidStream(out, { input: { threadId: 't', runId: 'r', protocolVersion: '1.0', messages, state } })
  return { out, between: out.slice(1, -1).map(brief), last: out.at(-1), problems, held: stream.fold }
}

const text = (messageId: string, delta: string): AgentEvent => ({
  type: 'TEXT_MESSAGE_CHUNK',
  messageId,
  delta,
})

const call = (
  toolCallId: string,
  more: { parentMessageId?: string; subagentRunId?: string } = {},
): AgentEvent => ({
  type: 'TOOL_CALL_START',
  toolCallId,
  toolCallName: 'f',
  ...more,
})

describe('messages', () => {
  it('makes triads of chunks', () => {
    expect(run([text('m1', 'Hel'), text('m1', 'lo'), text('m2', 'Bye')]).between).toEqual([
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "Hel"',
      'TEXT_MESSAGE_CONTENT m1 "lo"',
      'TEXT_MESSAGE_END m1',
      'TEXT_MESSAGE_START m2',
      'TEXT_MESSAGE_CONTENT m2 "Bye"',
      'TEXT_MESSAGE_END m2',
    ])
  })

  it('names a message that the agent did not name', () => {
    const { between } = run([
      { type: 'TEXT_MESSAGE_CHUNK', delta: 'a' },
      { type: 'TEXT_MESSAGE_CHUNK', delta: 'b' },
    ])
    expect(between).toEqual([
      'TEXT_MESSAGE_START id-1',
      'TEXT_MESSAGE_CONTENT id-1 "a"',
      'TEXT_MESSAGE_CONTENT id-1 "b"',
      'TEXT_MESSAGE_END id-1',
    ])
  })

  it('ends reasoning before text begins, and puts it into a span', () => {
    const { between } = run([
      { type: 'REASONING_MESSAGE_CHUNK', messageId: 'r1', delta: 'hm' },
      text('m1', 'Hi'),
    ])
    expect(between).toEqual([
      'REASONING_START r1',
      'REASONING_MESSAGE_START r1',
      'REASONING_MESSAGE_CONTENT r1 "hm"',
      'REASONING_MESSAGE_END r1',
      'REASONING_END r1',
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "Hi"',
      'TEXT_MESSAGE_END m1',
    ])
  })

  it('gives reasoning and text of one id two messages', () => {
    const { held } = run([
      { type: 'REASONING_MESSAGE_CHUNK', messageId: 'm1', delta: 'hm' },
      text('m1', 'Hi'),
    ])
    expect(held.messages).toEqual([
      { id: 'm1', role: 'reasoning', content: 'hm' },
      { id: 'm1~2', role: 'assistant', content: 'Hi' },
    ])
  })

  it('does not write into a message of an earlier run that has the same id', () => {
    const messages: Message[] = [{ id: 'm1', role: 'assistant', content: 'before' }]
    const { held } = run([text('m1', 'now')], { messages })
    expect(held.messages).toEqual([...messages, { id: 'm1~2', role: 'assistant', content: 'now' }])
  })

  it('sends no empty delta, and keeps the metadata that came with one', () => {
    const { between, held } = run([
      text('m1', 'Hi'),
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: '', metadata: { finish: 'stop' } },
    ])
    expect(between).toEqual(['TEXT_MESSAGE_START m1', 'TEXT_MESSAGE_CONTENT m1 "Hi"', 'TEXT_MESSAGE_END m1'])
    expect(held.messages).toEqual([
      { id: 'm1', role: 'assistant', content: 'Hi', metadata: { finish: 'stop' } },
    ])
  })

  it('lets two texts of one lane stay open once the agent has shown that it writes both', () => {
    const { between } = run([
      text('a', '1'),
      text('b', '1'),
      text('a', '2'),
      text('b', '2'),
      text('a', '3'),
      text('b', '3'),
    ])
    expect(between.filter((event) => event.startsWith('TEXT_MESSAGE_START'))).toHaveLength(4)
    expect(between.slice(-4)).toEqual([
      'TEXT_MESSAGE_CONTENT a "3"',
      'TEXT_MESSAGE_CONTENT b "3"',
      'TEXT_MESSAGE_END b',
      'TEXT_MESSAGE_END a',
    ])
  })

  it('gives reasoning that is only told encrypted a message to attach it to', () => {
    const { held } = run([
      { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'r1', encryptedValue: 'x' },
    ])
    expect(held.messages).toEqual([{ id: 'r1', role: 'reasoning', content: '', encryptedValue: 'x' }])
  })

  it('rounds times, and drops nulls and what no one knows', () => {
    const sloppy = { ...text('m1', 'Hi'), timestamp: 12.6, rawEvent: null, name: null, colour: 'red' }
    const { out, problems } = run([sloppy as AgentEvent])
    expect(out[1]).toEqual({ type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' })
    expect(out[2]).toEqual({ type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'Hi', timestamp: 13 })
    expect(problems).toContain('TEXT_MESSAGE_CHUNK.colour: unknown member, dropped')
  })
})

describe('tool calls', () => {
  it('ends text before a tool call, and the call before its result', () => {
    const { between } = run([
      text('m1', 'Let me see'),
      call('c1', { parentMessageId: 'm1' }),
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
      { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'ok' },
    ])
    expect(between).toEqual([
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "Let me see"',
      'TEXT_MESSAGE_END m1',
      'TOOL_CALL_START c1',
      'TOOL_CALL_ARGS c1 "{}"',
      'TOOL_CALL_END c1',
      'TOOL_CALL_RESULT t1',
    ])
  })

  it('takes a result while text is open, without cutting the text', () => {
    const { between } = run([
      call('c1'),
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      text('m1', 'Mean'),
      { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'ok' },
      text('m1', 'while'),
    ])
    expect(between.slice(2)).toEqual([
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "Mean"',
      'TOOL_CALL_RESULT t1',
      'TEXT_MESSAGE_CONTENT m1 "while"',
      'TEXT_MESSAGE_END m1',
    ])
  })

  it('streams the arguments of parallel calls side by side', () => {
    const { between } = run([
      call('c1'),
      call('c2'),
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c2', delta: '{' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '}' },
    ])
    expect(between.filter((event) => event.startsWith('TOOL_CALL_START'))).toHaveLength(2)
  })

  it('lists exactly the calls without a result as pending, in order', () => {
    const { last } = run([
      call('c1'),
      call('c2'),
      call('c3'),
      { type: 'TOOL_CALL_RESULT', messageId: 't', toolCallId: 'c2', content: 'ok' },
    ])
    expect(last).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: ['c1', 'c3'] } })
  })

  it('sends a result once, and none for a call nobody made', () => {
    const result: AgentEvent = { type: 'TOOL_CALL_RESULT', messageId: 't', toolCallId: 'c1', content: 'ok' }
    const { between, problems } = run([call('c1'), result, result, { ...result, toolCallId: 'c9' }])
    expect(between.filter((event) => event.startsWith('TOOL_CALL_RESULT'))).toHaveLength(1)
    expect(problems).toEqual([
      "TOOL_CALL_RESULT: tool call 'c1' has a result already",
      "TOOL_CALL_RESULT: there is no tool call 'c9'",
    ])
  })

  it('leaves out a second start of a call and arguments after its end', () => {
    const { held, problems } = run([
      call('c1'),
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      call('c1'),
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{}' },
    ])
    expect(held.messages).toMatchObject([{ toolCalls: [{ function: { arguments: '{}' } }] }])
    expect(problems).toHaveLength(2)
  })
})

describe('subagents', () => {
  const tagged = (messageId: string, delta: string, subagentRunId: string): AgentEvent => ({
    type: 'TEXT_MESSAGE_CHUNK',
    messageId,
    delta,
    subagentRunId,
  })

  it('lets lanes interleave without closing each other', () => {
    const { between } = run([
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' },
      text('m1', 'a'),
      tagged('m2', 'b', 's1'),
      text('m1', 'c'),
      tagged('m2', 'd', 's1'),
    ])
    expect(between).toEqual([
      'SUBAGENT_STARTED @s1',
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "a"',
      'TEXT_MESSAGE_START m2 @s1',
      'TEXT_MESSAGE_CONTENT m2 "b" @s1',
      'TEXT_MESSAGE_CONTENT m1 "c"',
      'TEXT_MESSAGE_CONTENT m2 "d" @s1',
      'TEXT_MESSAGE_END m2 @s1',
      'SUBAGENT_FINISHED @s1',
      'TEXT_MESSAGE_END m1',
    ])
  })

  it('gives an untagged continuation to the opener', () => {
    const { between } = run([
      tagged('m1', 'a', 's1'),
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 'b' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
    ])
    expect(between.slice(2, 4)).toEqual([
      'TEXT_MESSAGE_CONTENT m1 "a" @s1',
      'TEXT_MESSAGE_CONTENT m1 "b" @s1',
    ])
  })

  it('keeps apart what two subagents write under one id', () => {
    const { held } = run([tagged('m', 'one', 's1'), tagged('m', 'two', 's2'), tagged('m', ' more', 's1')])
    expect(held.messages).toMatchObject([
      { id: 'm', content: 'one more', subagentRunId: 's1' },
      { id: 'm~2', content: 'two', subagentRunId: 's2' },
    ])
  })

  it('closes what a subagent left open, its own subagents first', () => {
    const { between } = run([
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'outer' },
      { type: 'SUBAGENT_STARTED', subagentRunId: 's2', name: 'inner', parentSubagentRunId: 's1' },
      { type: 'STEP_STARTED', stepName: 'w', subagentRunId: 's2' },
      tagged('m1', 'a', 's2'),
      { type: 'SUBAGENT_ERROR', subagentRunId: 's1', message: 'broke' },
    ])
    expect(between.slice(-4)).toEqual([
      'TEXT_MESSAGE_END m1 @s2',
      'STEP_FINISHED w @s2',
      'SUBAGENT_ERROR @s2',
      'SUBAGENT_ERROR @s1',
    ])
  })

  it('gives a subagent that goes on after its end an invocation of its own', () => {
    const { between } = run([
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' },
      { type: 'SUBAGENT_FINISHED', subagentRunId: 's1' },
      tagged('m1', 'late', 's1'),
    ])
    expect(between.slice(2, 4)).toEqual(['SUBAGENT_STARTED @s1#2', 'TEXT_MESSAGE_START m1 @s1#2'])
  })

  it('suspends the subagents that wait for an answer, with exactly their interrupts', () => {
    const { out } = run(
      [
        { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'outer' },
        { type: 'SUBAGENT_STARTED', subagentRunId: 's2', name: 'inner', parentSubagentRunId: 's1' },
        { type: 'SUBAGENT_STARTED', subagentRunId: 's3', name: 'done' },
      ],
      {
        end: {
          type: 'interrupt',
          interrupts: [
            { id: 'i1', reason: 'confirmation', subagentRunId: 's2' },
            { id: 'i2', reason: 'confirmation' },
          ],
        },
      },
    )
    const ends = out.filter(({ type }) => type === 'SUBAGENT_FINISHED')
    expect(ends).toEqual([
      { type: 'SUBAGENT_FINISHED', subagentRunId: 's3' },
      {
        type: 'SUBAGENT_FINISHED',
        subagentRunId: 's2',
        outcome: { type: 'suspended', interruptIds: ['i1'] },
      },
      {
        type: 'SUBAGENT_FINISHED',
        subagentRunId: 's1',
        outcome: { type: 'suspended', interruptIds: ['i1'] },
      },
    ])
  })
})

describe('steps', () => {
  it('are unique while they are open, per owner', () => {
    const step = (stepName: string, subagentRunId?: string): AgentEvent => ({
      type: 'STEP_STARTED',
      stepName,
      ...(subagentRunId === undefined ? {} : { subagentRunId }),
    })
    const { between } = run([
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' },
      step('w'),
      step('w'),
      step('w', 's1'),
      { type: 'STEP_FINISHED', stepName: 'w' },
      { type: 'STEP_FINISHED', stepName: 'w' },
      step('w'),
    ])
    expect(between.slice(1, -3)).toEqual([
      'STEP_STARTED w',
      'STEP_STARTED w#2',
      'STEP_STARTED w @s1',
      'STEP_FINISHED w',
      'STEP_FINISHED w#2',
      'STEP_STARTED w',
    ])
  })
})

describe('state', () => {
  const add: AgentEvent = { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/items/-', value: 1 }] }

  it('sends a delta that fits what the client holds', () => {
    const { between, held } = run([add], { state: { items: [] } })
    expect(between).toEqual(['STATE_DELTA'])
    expect(held.state).toEqual({ items: [1] })
  })

  it('sends a snapshot of the agent state when the delta does not fit', () => {
    const { between, held, problems } = run([add], { state: {}, readState: () => ({ items: [1] }) })
    expect(between).toEqual(['STATE_SNAPSHOT'])
    expect(held.state).toEqual({ items: [1] })
    expect(problems).toEqual([
      "STATE_DELTA: the patch does not apply: add: there is nothing to hold '/items/-'",
    ])
  })

  it('never lets a patch reach a prototype', () => {
    const { held } = run([
      { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/__proto__/polluted', value: true }] },
    ])
    expect(held.state).toEqual({})
    expect(Object.prototype).not.toHaveProperty('polluted')
  })

  it('is a copy: what the agent changes later is not what was sent', () => {
    const snapshot = { items: [1] }
    const out: AgUiEvent[] = []
    const stream = createRunStream({ threadId: 't', runId: 'r', emit: (event) => out.push(event) })
    stream.write({ type: 'STATE_SNAPSHOT', snapshot })
    snapshot.items.push(2)
    expect(out[1]).toEqual({ type: 'STATE_SNAPSHOT', snapshot: { items: [1] } })
    expect(stream.fold.state).toEqual({ items: [1] })
  })
})

describe('the end', () => {
  it('closes everything before it, whatever it is', () => {
    const ends: [RunEnd | Error, string][] = [
      [{ type: 'success' }, 'RUN_FINISHED'],
      [{ type: 'cancelled' }, 'RUN_FINISHED'],
      [{ type: 'interrupt', interrupts: [{ id: 'i', reason: 'confirmation' }] }, 'RUN_FINISHED'],
      [new Error('secret'), 'RUN_ERROR'],
    ]
    for (const [end, terminal] of ends) {
      const { between, last } = run([{ type: 'STEP_STARTED', stepName: 'w' }, call('c1'), text('m1', 'a')], {
        end,
      })
      expect(between.slice(-3)).toEqual(['TEXT_MESSAGE_END m1', 'TOOL_CALL_END c1', 'STEP_FINISHED w'])
      expect(last?.type).toBe(terminal)
    }
  })

  it('tells a client nothing of an error that may not be shown', () => {
    const { last } = run([], { end: new Error('password is hunter2') })
    expect(last).toEqual({ type: 'RUN_ERROR', code: 'AGENT_ERROR', message: 'The agent failed.' })
  })

  it('shows an error that may be shown, under the code of the agent', () => {
    const end = new MillraceError('AGENT_ERROR', 'Sold out.', { expose: true, wireCode: 'SOLD_OUT' })
    expect(run([], { end }).last).toEqual({ type: 'RUN_ERROR', code: 'SOLD_OUT', message: 'Sold out.' })
  })

  it('leaves out counts a client could not take', () => {
    const usage = [{ model: 'm', inputTokens: 3, outputTokens: NaN, totalTokens: -1 }]
    expect(run([], { end: { type: 'success', usage } }).last).toMatchObject({
      usage: [{ model: 'm', inputTokens: 3 }],
    })
  })

  it.each([
    ['no interrupt', [], 'at least one interrupt'],
    [
      'two interrupts of one id',
      [
        { id: 'i', reason: 'a' },
        { id: 'i', reason: 'b' },
      ],
      "the id 'i'",
    ],
    ['an interrupt without a reason', [{ id: 'i' }], 'interrupt.reason: expected string, got nothing'],
  ])('refuses %s, with nothing written', (_name, interrupts, message) => {
    const out: AgUiEvent[] = []
    const stream = createRunStream({ threadId: 't', runId: 'r', emit: (event) => out.push(event) })
    stream.write(text('m1', 'a'))
    const before = out.length
    const end = { type: 'interrupt', interrupts } as RunEnd
    expect(() => stream.finish(end)).toThrow(expect.objectContaining({ code: 'INVALID_INTERRUPT' }) as Error)
    expect(() => stream.finish(end)).toThrow(message)
    expect(out).toHaveLength(before)
    expect(stream.ended).toBe(false)
  })
})

describe('events without meaning', () => {
  const circle: Record<string, unknown> = {}
  circle.self = circle

  it.each<[string, unknown, string, string]>([
    [
      'a malformed field',
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 1 },
      'INVALID_EVENT',
      'TEXT_MESSAGE_CONTENT.delta: expected string, got number',
    ],
    ['a missing field', { type: 'CUSTOM', name: 'x' }, 'INVALID_EVENT', 'CUSTOM.value'],
    [
      'an end of the run',
      { type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
      'INVALID_EVENT',
      'owner of a run',
    ],
    [
      'a value that is not JSON',
      { type: 'CUSTOM', name: 'x', value: Promise.resolve() },
      'ENCODING_ERROR',
      'CUSTOM is not JSON',
    ],
    [
      'a circle',
      { type: 'STATE_SNAPSHOT', snapshot: circle },
      'ENCODING_ERROR',
      'STATE_SNAPSHOT is not JSON',
    ],
    [
      'a pointer that is none',
      { type: 'STATE_DELTA', delta: [{ op: 'remove', path: 'a' }] },
      'INVALID_EVENT',
      'STATE_DELTA.delta[0].path',
    ],
  ])('refuses %s, with nothing written', (_name, event, code, message) => {
    const out: AgUiEvent[] = []
    const stream = createRunStream({ threadId: 't', runId: 'r', emit: (one) => out.push(one) })
    const write = () => stream.write(event as AgentEvent)
    expect(write).toThrow(expect.objectContaining({ code }) as Error)
    expect(write).toThrow(message)
    expect(out).toHaveLength(1)
  })

  it('leaves out a type of another version, and says so', () => {
    const { between, problems } = run([{ type: 'META_EVENT' } as unknown as AgentEvent])
    expect(between).toEqual([])
    expect(problems).toEqual(["'META_EVENT' is not an AG-UI 1.0 event; it was left out"])
  })
})
