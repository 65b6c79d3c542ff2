import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import { assertValidStream } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent, EventOf } from '../contract.js'
import { createFold } from '../fold/fold.js'
import { rejectMessage, rewriteMessages } from '../messages.js'
import { createRunStream, resumeRunStream } from './run-stream.js'

const history: Message[] = [
  { id: 'u1', role: 'user', content: 'I am ann@x.org' },
  { id: 'v1', role: 'activity', activityType: 'plan', content: {} },
  {
    id: 'a1',
    role: 'assistant',
    content: 'I mail.',
    toolCalls: [{ id: 'c0', type: 'function', function: { name: 'mail', arguments: '{"to":"ann"}' } }],
  },
]

function start(messages: readonly Message[] = []) {
  const out: AgUiEvent[] = []
  const problems: string[] = []
  const stream = createRunStream({
    ...{ threadId: 't', runId: 'r', messages, newId: sequentialIds() },
    emit: (event) => out.push(event),
    onProblem: (problem) => problems.push(problem),
  })
  return {
    out,
    problems,
    stream,
    write: (...events: AgentEvent[]): void => events.forEach((event) => stream.write(event)),
    /** Ends the run. Gives its snapshots, and what a client then holds. */
    finish: () => {
      stream.finish({ type: 'success' })
      const input = { threadId: 't', runId: 'r', protocolVersion: '1.0', messages, tools: [], context: [] }
      assertValidStream(out, { input })
      const client = createFold({ messages })
      for (const event of out) client.apply(event)
      const snapshots = out.filter((event) => event.type === 'MESSAGES_SNAPSHOT')
      return { snapshots, client: client.messages }
    },
  }
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
const call = (toolCallId: string, parentMessageId: string): AgentEvent => ({
  type: 'TOOL_CALL_CHUNK',
  ...{ toolCallId, parentMessageId, toolCallName: 'mail', delta: '{"to":"ann"}' },
})
const result = (toolCallId: string): AgentEvent => ({
  type: 'TOOL_CALL_RESULT',
  ...{ messageId: `t-${toolCallId}`, toolCallId, content: 'Sent.' },
})
const retry = (...messageIds: string[]): AgentEvent => ({
  type: 'CUSTOM',
  name: 'millrace.retry',
  value: { reason: 'busy', messageIds },
})
const said = (id: string, content: string): Message => ({ id, role: 'assistant', content })

it('a run that takes nothing back sends no snapshot', () => {
  const { write, finish } = start(history)
  write(text('m1', 'Hi.'), thought('r1', 'hm'))
  expect(finish().snapshots).toEqual([])
})

describe('rejected messages', () => {
  it('are gone for clients and for the history when the run ends, with their calls and results', () => {
    const { write, stream, finish } = start(history)
    write(text('m1', 'No.'), call('c1', 'm1'), result('c1'), text('m2', 'Yes.'))
    write(...rejectMessage(said('m1', ''), 'wrong'))
    const { snapshots, client } = finish()
    expect(snapshots).toHaveLength(1)
    expect(client.map(({ id }) => id)).toEqual(['u1', 'v1', 'a1', 'm2'])
    expect(stream.fold.messages).toEqual(client)
    // Messages of the thread stay the same objects: a store writes only what is new.
    expect(stream.fold.messages[0]).toBe(history[0])
  })

  it('of a subagent that has ended are named by the retry', () => {
    const { write, stream, finish } = start()
    write({ type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' }, text('m1', 'Half', 's'))
    write({ type: 'SUBAGENT_FINISHED', subagentRunId: 's' }, retry('m1'), text('m2', 'Whole.'))
    expect(finish().client).toEqual([said('m2', 'Whole.')])
    expect(stream.fold.messages).toEqual([said('m2', 'Whole.')])
  })

  it('are those of the agent that tries again, not of another with the same ids', () => {
    const { write, finish } = start()
    for (const id of ['s1', 's2']) {
      write({ type: 'SUBAGENT_STARTED', subagentRunId: id, name: id }, text('m1', `From ${id}.`, id))
    }
    write({ ...retry('m1'), subagentRunId: 's2' } as AgentEvent)
    expect(finish().client.map(({ content }) => content)).toEqual(['From s1.'])
  })

  it('of reasoning go when other reasoning is left, and are emptied when none is: clients keep the last', () => {
    const one = start()
    one.write(
      thought('r1', 'wrong'),
      text('m1', 'Yes.'),
      ...rejectMessage({ id: 'r1', role: 'reasoning' }, 'x'),
    )
    expect(one.finish().client).toMatchObject([{ id: 'm1' }, { id: 'r1', content: '' }].reverse())
    expect(one.stream.fold.messages.map(({ id }) => id)).toEqual(['m1'])
    const two = start()
    two.write(thought('r1', 'wrong'), thought('r2', 'right'), text('m1', 'Yes.'))
    two.write(...rejectMessage({ id: 'r1', role: 'reasoning' }, 'x'))
    expect(two.finish().client.map(({ id }) => id)).toEqual(['r2', 'm1'])
  })

  it('are gone when the run fails or is cancelled too', () => {
    for (const type of ['fail', 'cancel'] as const) {
      const { write, stream, out } = start()
      write(text('m1', 'Half'), ...rejectMessage(said('m1', ''), 'x'))
      if (type === 'fail') stream.fail(new Error('x'))
      else stream.finish({ type: 'cancelled' })
      assertValidStream(out)
      expect(out.at(-2)).toEqual({ type: 'MESSAGES_SNAPSHOT', messages: [] })
      expect(stream.fold.messages).toEqual([])
    }
  })
})

describe('rewritten messages', () => {
  it('are new in the history at once, and for clients when the run ends', () => {
    const { write, stream, finish } = start(history)
    write(text('m1', 'ann@x.org'))
    write(rewriteMessages([said('m1', '[mail]'), { id: 'u1', role: 'user', content: 'I am [mail]' }]))
    expect(stream.fold.messages.at(-1)).toEqual(said('m1', '[mail]'))
    const { client } = finish()
    expect(client.map(({ content }) => content)).toEqual(['I am [mail]', {}, 'I mail.', '[mail]'])
    expect(stream.fold.messages).toEqual(client)
  })

  it('keep their owner, their marks and the calls that are not named', () => {
    const { write, finish } = start()
    write({ type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' })
    write({ ...text('m1', 'ann', 's'), metadata: { mine: 1 } })
    write({ ...call('c1', 'm1'), subagentRunId: 's' } as AgentEvent, result('c1'))
    write({ ...rewriteMessages([said('m1', '[name]')]), subagentRunId: 's' } as AgentEvent)
    expect(finish().client[0]).toMatchObject({
      ...{ id: 'm1', content: '[name]', subagentRunId: 's', metadata: { mine: 1 } },
      toolCalls: [{ id: 'c1' }],
    })
  })

  it('have edited calls, also of an earlier run; a call that is gone takes its result along', () => {
    const { write, finish, stream } = start(history)
    const edited = {
      id: 'c0',
      type: 'function' as const,
      function: { name: 'mail', arguments: '{"to":"bob"}' },
    }
    write(result('c0'), text('m1', 'And.'), call('c1', 'm1'), result('c1'))
    write(
      rewriteMessages([
        { id: 'a1', role: 'assistant', toolCalls: [edited] },
        { id: 'm1', role: 'assistant', toolCalls: [] },
      ]),
    )
    const { client } = finish()
    expect(client.map(({ id }) => id)).toEqual(['u1', 'v1', 'a1', 't-c0', 'm1'])
    expect(client[2]).toMatchObject({ content: 'I mail.', toolCalls: [edited] })
    expect(stream.fold.messages).toEqual(client)
  })

  it('of results are found by their call', () => {
    const { write, finish } = start(history)
    write(result('c0'))
    write(rewriteMessages([{ id: 'other', role: 'tool', toolCallId: 'c0', content: 'Done.' }]))
    expect(finish().client.at(-1)).toMatchObject({ id: 't-c0', content: 'Done.' })
  })

  it('of the user are left to the agent of the run: below it, they belong to all', () => {
    const { write, finish, problems } = start(history)
    write({ type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' })
    const rewrite = rewriteMessages([{ id: 'u1', role: 'user', content: 'x' }])
    write({ ...rewrite, subagentRunId: 's' } as AgentEvent)
    expect(finish().snapshots).toEqual([])
    expect(problems).toHaveLength(1)
  })

  it('that are unknown, of another role or malformed are left out', () => {
    const { write, finish, problems } = start(history)
    const malformed = { id: 'a1', role: 'assistant', content: 7 } as unknown as Message
    write(rewriteMessages([said('nobody', 'x'), said('u1', 'For context'), malformed]))
    expect(finish().snapshots).toEqual([])
    expect(problems).toHaveLength(3)
  })

  it('come back from the log of a run that was lost, and rejected ones do not', () => {
    const { write, out } = start()
    write(text('m1', 'Half'), ...rejectMessage(said('m1', ''), 'x'), text('m2', 'ann'))
    write(rewriteMessages([said('m2', '[name]')]))
    const missing: AgUiEvent[] = []
    const stream = resumeRunStream({
      ...{ threadId: 't', runId: 'r', events: out },
      emit: (event) => missing.push(event),
      onUnreadable: (error) => expect(error).toBeUndefined(),
    })
    stream.fail(new Error('lost'))
    const whole = [...out, ...missing]
    assertValidStream(whole)
    expect(stream.fold.messages).toEqual([said('m2', '[name]')])
    const snapshot = whole.find(
      (event): event is EventOf<'MESSAGES_SNAPSHOT'> => event.type === 'MESSAGES_SNAPSHOT',
    )
    expect(snapshot?.messages).toEqual([said('m2', '[name]')])
  })
})
