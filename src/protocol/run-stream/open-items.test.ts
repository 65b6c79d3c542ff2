import { describe, expect, it } from 'vitest'
import { brief } from '../../../test/support/brief.js'
import { sequentialIds } from '../../core/ids.js'
import { assertValidStream } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent } from '../contract.js'
import { cutOffMark, isCutOff, isRejected, rejectedMark, rejectMessage } from '../messages.js'
import { createRunStream, resumeRunStream } from './run-stream.js'

function start() {
  const out: AgUiEvent[] = []
  const problems: string[] = []
  const stream = createRunStream({
    threadId: 't',
    runId: 'r',
    emit: (event) => out.push(event),
    onProblem: (problem) => problems.push(problem),
    newId: sequentialIds(),
  })
  const write = (...events: AgentEvent[]): void => events.forEach((event) => stream.write(event))
  const finish = (): string[] => {
    stream.finish({ type: 'success' })
    assertValidStream(out)
    return out.slice(1, -1).map(brief)
  }
  return { out, problems, stream, write, finish }
}

const text = (messageId: string, delta: string, subagentRunId?: string): AgentEvent => ({
  type: 'TEXT_MESSAGE_CHUNK',
  messageId,
  delta,
  ...(subagentRunId === undefined ? {} : { subagentRunId }),
})

const thought = (messageId: string, delta: string): AgentEvent => ({
  type: 'REASONING_MESSAGE_CHUNK',
  messageId,
  delta,
})

const encrypted = (
  subtype: 'message' | 'tool-call',
  entityId: string,
  encryptedValue: string,
): AgentEvent => ({ type: 'REASONING_ENCRYPTED_VALUE', subtype, entityId, encryptedValue })

describe('a producer that writes chunks and ends alone', () => {
  it('needs no starts: each kind closes what is open in its lane', () => {
    const { write, finish, problems } = start()
    write(
      thought('r1', 'hm'),
      text('m1', 'Let me see.'),
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c1', toolCallName: 'f', parentMessageId: 'm1', delta: '{' },
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c1', delta: '}' },
      text('m2', 'Well.'),
    )
    expect(finish()).toEqual([
      'REASONING_START r1',
      'REASONING_MESSAGE_START r1',
      'REASONING_MESSAGE_CONTENT r1 "hm"',
      'REASONING_MESSAGE_END r1',
      'REASONING_END r1',
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "Let me see."',
      'TEXT_MESSAGE_END m1',
      'TOOL_CALL_START c1',
      'TOOL_CALL_ARGS c1 "{"',
      'TOOL_CALL_ARGS c1 "}"',
      'TOOL_CALL_END c1',
      'TEXT_MESSAGE_START m2',
      'TEXT_MESSAGE_CONTENT m2 "Well."',
      'TEXT_MESSAGE_END m2',
    ])
    expect(problems).toEqual([])
  })

  it('may end what is closed already, and a call of the thread', () => {
    const { write, finish, problems } = start()
    write(
      thought('r1', 'hm'),
      text('m1', 'Hi'),
      { type: 'REASONING_MESSAGE_END', messageId: 'r1' },
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      { type: 'TOOL_CALL_RESULT', messageId: 't1', toolCallId: 'c1', content: 'ok' },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
      { type: 'REASONING_END', messageId: 'r1' },
      { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' },
      text('m2', 'Hi', 's1'),
      { type: 'SUBAGENT_FINISHED', subagentRunId: 's1' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm2', subagentRunId: 's1' },
    )
    finish()
    expect(problems).toEqual([])
  })

  it('is told of the end of what never was', () => {
    const { write, problems } = start()
    write(
      { type: 'TEXT_MESSAGE_END', messageId: 'm9' },
      { type: 'TOOL_CALL_END', toolCallId: 'c9' },
      { type: 'TOOL_CALL_CHUNK' },
    )
    expect(problems).toEqual([
      "there is no open text message 'm9' to end",
      "there is no tool call 'c9' to end",
      "there is no tool call '' to continue, and no name to start one with",
    ])
  })

  it('has the newest encrypted value of an open item sent after its end', () => {
    const { out, write, finish } = start()
    write(
      thought('r1', 'hm'),
      encrypted('message', 'r1', 'x'),
      encrypted('message', 'r1', 'xy'),
      thought('r1', '.'),
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' },
      encrypted('tool-call', 'c1', 'z'),
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
    )
    expect(finish()).toEqual([
      'REASONING_START r1',
      'REASONING_MESSAGE_START r1',
      'REASONING_MESSAGE_CONTENT r1 "hm"',
      'REASONING_MESSAGE_CONTENT r1 "."',
      'REASONING_MESSAGE_END r1',
      'REASONING_ENCRYPTED_VALUE r1',
      'REASONING_END r1',
      'TOOL_CALL_START c1',
      'TOOL_CALL_END c1',
      'REASONING_ENCRYPTED_VALUE c1',
    ])
    expect(out.filter((event) => event.type === 'REASONING_ENCRYPTED_VALUE')).toMatchObject([
      { encryptedValue: 'xy' },
      { encryptedValue: 'z' },
    ])
  })
})

describe('a producer that writes starts too', () => {
  it('may write several messages at once: each ends where it is ended', () => {
    const { write, finish, problems } = start()
    write(
      { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
      text('m1', 'a'),
      { type: 'TEXT_MESSAGE_START', messageId: 'm2', role: 'assistant' },
      text('m2', 'b'),
      text('m1', 'c'),
      { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      text('m2', 'd'),
      { type: 'TOOL_CALL_END', toolCallId: 'c1' },
    )
    expect(finish().filter((line) => !line.includes('CONTENT'))).toEqual([
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_START m2',
      'TOOL_CALL_START c1',
      'TEXT_MESSAGE_END m1',
      'TOOL_CALL_END c1',
      'TEXT_MESSAGE_END m2',
    ])
    expect(problems).toEqual([])
  })

  it('has a span around its reasoning until the last of it ends', () => {
    const { write, finish } = start()
    write(
      { type: 'REASONING_MESSAGE_START', messageId: 'r1', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_START', messageId: 'r2', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_END', messageId: 'r1' },
      text('m1', 'a'),
      thought('r2', 'b'),
      { type: 'REASONING_MESSAGE_END', messageId: 'r2' },
      text('m2', 'c'),
    )
    expect(finish()).toEqual([
      'REASONING_START r1',
      'REASONING_MESSAGE_START r1',
      'REASONING_MESSAGE_START r2',
      'REASONING_MESSAGE_END r1',
      'TEXT_MESSAGE_START m1',
      'TEXT_MESSAGE_CONTENT m1 "a"',
      'REASONING_MESSAGE_CONTENT r2 "b"',
      'REASONING_MESSAGE_END r2',
      'TEXT_MESSAGE_END m1',
      'REASONING_END r1',
      'TEXT_MESSAGE_START m2',
      'TEXT_MESSAGE_CONTENT m2 "c"',
      'TEXT_MESSAGE_END m2',
    ])
  })
})

describe('closeOpen', () => {
  const reason = 'The attempt it was part of has failed.'
  const attempt: AgentEvent[] = [
    { type: 'STEP_STARTED', stepName: 'w' },
    text('m1', 'Whole.'),
    { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' },
    text('m2', 'Whole.', 's1'),
    { type: 'SUBAGENT_FINISHED', subagentRunId: 's1' },
    thought('r1', 'hm'),
    { type: 'SUBAGENT_STARTED', subagentRunId: 's2', name: 'two' },
    text('m3', 'Half', 's2'),
  ]

  it('closes items, steps and subagents, and leaves the run open', () => {
    const { out, write, stream, finish } = start()
    write(...attempt)
    const before = out.length
    expect(stream.closeOpen({ reason })).toEqual(['r1', 'm3'])
    expect(out.slice(before).map(brief)).toEqual([
      'TEXT_MESSAGE_END m3 @s2',
      'SUBAGENT_ERROR @s2',
      'REASONING_MESSAGE_END r1',
      'REASONING_END r1',
      'STEP_FINISHED w',
    ])
    write({ type: 'TEXT_MESSAGE_CHUNK', delta: 'Again.' })
    finish()
    expect(stream.fold.messages.at(-1)).toEqual({ id: 'id-1', role: 'assistant', content: 'Again.' })
  })

  it('marks what is cut off, or all but what ended subagents have written', () => {
    const [open, all] = [false, true].map((markComplete) => {
      const { write, stream, finish } = start()
      write(...attempt)
      stream.closeOpen({ reason, mark: rejectedMark('busy'), markComplete })
      const rejected = stream.fold.messages.filter(isRejected).map(({ id }) => id)
      finish()
      return rejected
    })
    expect(open).toEqual(['r1', 'm3'])
    expect(all).toEqual(['m1', 'r1', 'm3'])
  })

  it('is nothing when nothing is open', () => {
    const { out, stream } = start()
    expect(stream.closeOpen({ reason, mark: rejectedMark('busy'), markComplete: true })).toEqual([])
    expect(out).toHaveLength(1)
  })
})

it('a message that has ended can be rejected', () => {
  const { write, stream, finish } = start()
  write(text('m1', 'No.'), thought('r1', 'hm'), text('m2', 'Yes.'))
  for (const message of stream.fold.messages.slice(0, 2)) write(...rejectMessage(message, 'wrong'))
  expect(stream.fold.messages.map((message) => isRejected(message))).toEqual([true, true, false])
  finish()
  expect(stream.fold.messages.map(({ id }) => id)).toEqual(['m2'])
})

describe('a stream that stopped in the middle', () => {
  const loose: AgentEvent[] = [
    { type: 'STEP_STARTED', stepName: 'w' },
    text('m1', 'Whole.'),
    { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'f' },
    { type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' },
    text('m2', 'Half', 's1'),
    thought('r1', 'hm'),
  ]

  function resume(stored: readonly AgUiEvent[]) {
    const out: AgUiEvent[] = []
    const unreadable: unknown[] = []
    const stream = resumeRunStream({
      threadId: 't',
      runId: 'r',
      events: stored,
      emit: (event) => out.push(event),
      onUnreadable: (error) => unreadable.push(error),
    })
    return { out, unreadable, stream }
  }

  it('ends wherever it stopped, with all that was open closed and marked', () => {
    const { out: stored, write } = start()
    write(...loose)
    for (let length = 0; length <= stored.length; length++) {
      const before = stored.slice(0, length)
      const { out, stream } = resume(before)
      stream.fail(new Error('lost'), { mark: cutOffMark })
      assertValidStream([...before, ...out])
    }
  })

  it('has all that a client holds', () => {
    const { out: stored, write, stream: first } = start()
    write(...loose)
    const { out, stream } = resume(stored)
    expect(out).toEqual([])
    expect(stream.fold.messages).toEqual(first.fold.messages)
    stream.fail(new Error('lost'), { mark: cutOffMark })
    expect(stream.fold.messages.filter(isCutOff).map(({ id }) => id)).toEqual(['m2', 'r1'])
    expect(out.map(brief)).toEqual([
      'TEXT_MESSAGE_END m2 @s1',
      'SUBAGENT_ERROR AGENT_ERROR @s1',
      'REASONING_MESSAGE_END r1',
      'REASONING_END r1',
      'TOOL_CALL_END c1',
      'STEP_FINISHED w',
      'RUN_ERROR AGENT_ERROR',
    ])
  })

  it('goes on when one event cannot be read', () => {
    const odd = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: 1 } as unknown as AgUiEvent
    const { unreadable, stream } = resume([odd, text('m1', 'Hi')])
    expect(unreadable).toMatchObject([{ code: 'INVALID_EVENT' }])
    expect(stream.fold.messages).toMatchObject([{ content: 'Hi' }])
  })

  it('ends a suspended subagent once, when only the end of the run is missing', () => {
    const { out: stored, write, stream: first } = start()
    write({ type: 'SUBAGENT_STARTED', subagentRunId: 's1', name: 'one' })
    first.finish({
      type: 'interrupt',
      interrupts: [{ id: 'i1', reason: 'confirmation', subagentRunId: 's1' }],
    })
    const before = stored.slice(0, -1)
    const { out, stream } = resume(before)
    stream.fail(new Error('lost'))
    expect(out.map(brief)).toEqual(['RUN_ERROR AGENT_ERROR'])
    assertValidStream([...before, ...out])
  })
})
