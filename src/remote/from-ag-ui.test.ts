import type { Message } from '@ag-ui/core'
import { Observable } from 'rxjs'
import type { BaseEvent } from '@ag-ui/client'
import { describe, expect, it } from 'vitest'
import { handWritten, ScriptedAgUi, text, whole, type Emitted } from '../../test/e2e/support-remote.js'
import { brief } from '../../test/support/brief.js'
import { createClient, ofType, play, type Played } from '../../test/support/run-agent.js'
import type { Agent } from '../agents/index.js'
import { merge } from '../core/merge.js'
import { fromAgUi } from './from-ag-ui.js'

const remoteOf = (...events: readonly Emitted[]): Agent =>
  fromAgUi(new ScriptedAgUi(whole(...events)), { name: 'remote' })

/** The agent in a span. */
const below = (agent: Agent): Agent => handWritten('root', (ctx) => ctx.delegate(agent, { segment: '0' }))

const said = ({ events }: Played) => events.slice(1, -1).map(brief)
const user: Message = { id: 'u1', role: 'user', content: 'Hi.' }
const hi = { messages: [user] }

describe('events', () => {
  it('pass as they are', async () => {
    const events = [
      { type: 'STEP_STARTED', stepName: 'plan' },
      { type: 'REASONING_START', messageId: 's1' },
      { type: 'REASONING_MESSAGE_START', messageId: 'r1', role: 'reasoning' },
      { type: 'REASONING_MESSAGE_CONTENT', messageId: 'r1', delta: 'Hm.' },
      { type: 'REASONING_MESSAGE_END', messageId: 'r1' },
      { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'r1', encryptedValue: 'x' },
      { type: 'REASONING_END', messageId: 's1' },
      ...text('m1', 'Hello.'),
      { type: 'STEP_FINISHED', stepName: 'plan' },
      { type: 'CUSTOM', name: 'chart', value: null },
      { type: 'RAW', event: { a: 1 } },
      { type: 'ACTIVITY_SNAPSHOT', messageId: 'a1', activityType: 'job', content: { done: 0 } },
      {
        type: 'ACTIVITY_DELTA',
        messageId: 'a1',
        activityType: 'job',
        patch: [{ op: 'replace', path: '/done', value: 1 }],
      },
    ]
    const played = await play(remoteOf(...events), hi)
    expect(said(played)).toEqual(events.map((event) => brief(event as never)))
  })

  it('may be chunks', async () => {
    const chunks = [
      { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hel' },
      { type: 'TEXT_MESSAGE_CHUNK', delta: 'lo.' },
      { type: 'TOOL_CALL_CHUNK', toolCallId: 'c1', toolCallName: 'look', delta: '{' },
      { type: 'TOOL_CALL_CHUNK', delta: '}' },
    ]
    const { outcome } = await play(remoteOf(...chunks), hi)
    expect(outcome).toMatchObject({
      text: 'Hello.',
      pendingToolCalls: [{ id: 'c1', function: { arguments: '{}' } }],
    })
  })

  it('may be those for reasoning from before 1.0', async () => {
    const played = await play(
      remoteOf(
        { type: 'THINKING_START', title: 'Deep' },
        { type: 'THINKING_TEXT_MESSAGE_START' },
        { type: 'THINKING_TEXT_MESSAGE_CONTENT', delta: 'Hm.' },
        { type: 'THINKING_TEXT_MESSAGE_END' },
        { type: 'THINKING_END' },
        ...text('m1', 'Hello.'),
      ),
      hi,
    )
    expect(played.outcome.messages.slice(1)).toMatchObject([
      { role: 'reasoning', content: 'Hm.' },
      { role: 'assistant', content: 'Hello.' },
    ])
  })

  it('may have nulls, fractions of milliseconds, and types and ends that nobody knows', async () => {
    const problems: string[] = []
    const remote = new ScriptedAgUi([
      { type: 'RUN_STARTED' },
      { type: 'SOMETHING_NEW', value: 1 },
      {
        type: 'TOOL_CALL_START',
        toolCallId: 'c1',
        toolCallName: 'look',
        parentMessageId: null,
        timestamp: 1.5,
      },
      { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', messageId: 't1', content: 'seen', rawEvent: null },
      { type: 'RUN_FINISHED', result: null, outcome: { type: 'vanished' } },
    ])
    const { outcome } = await play(fromAgUi(remote, { name: 'remote' }), hi, {
      onProblem: (problem) => void problems.push(problem),
    })
    expect(outcome).toMatchObject({ type: 'completed', pendingToolCalls: [] })
    expect(problems).toContain("agent 'remote': 'SOMETHING_NEW' is not an AG-UI 1.0 event; it was left out")
  })

  it('of an earlier run in the same stream do not end it', async () => {
    const remote = new ScriptedAgUi([
      { type: 'RUN_STARTED', runId: 'earlier' },
      { type: 'RUN_FINISHED', runId: 'earlier', outcome: { type: 'cancelled' } },
      ...whole(...text('m1', 'Hello.')),
    ])
    const { outcome } = await play(fromAgUi(remote, { name: 'remote' }), hi)
    expect(outcome).toMatchObject({ type: 'completed', text: 'Hello.' })
  })

  it('may come from a server with ids of its own for runs', async () => {
    const remote = new ScriptedAgUi([
      { type: 'RUN_STARTED', runId: 'theirs' },
      ...text('m1', 'Hello.'),
      { type: 'RUN_FINISHED', runId: 'theirs' },
    ])
    const { outcome } = await play(fromAgUi(remote, { name: 'remote' }), hi)
    expect(outcome).toMatchObject({ type: 'completed', text: 'Hello.' })
  })

  it('pass through the middlewares of the agent', async () => {
    class WithClone extends ScriptedAgUi {
      override clone(): ScriptedAgUi {
        return Object.assign(super.clone(), { middlewares: Reflect.get(this, 'middlewares') })
      }
    }
    const remote = new WithClone(whole(...text('m1', 'Hello.')))
    remote.use((input, next) => {
      const shouting = { ...input, messages: [{ ...user, content: 'HI!' }] }
      const source = next.run(shouting)
      return new Observable<BaseEvent>((subscriber) =>
        source.subscribe({
          next: (event) => subscriber.next(event.delta === 'Hello.' ? { ...event, delta: 'HELLO!' } : event),
          error: (error) => subscriber.error(error),
          complete: () => subscriber.complete(),
        }),
      )
    })
    const { outcome } = await play(fromAgUi(remote, { name: 'remote' }), hi)
    expect(outcome).toMatchObject({ text: 'HELLO!' })
    expect(remote.inputs[0]?.messages).toMatchObject([{ content: 'HI!' }])
  })
})

describe('spans of the agent', () => {
  const spans = [
    { type: 'SUBAGENT_STARTED', subagentRunId: 'a', name: 'clerk' },
    { type: 'SUBAGENT_STARTED', subagentRunId: 'b', name: 'scribe', parentSubagentRunId: 'a' },
    ...text('m1', 'Written.', { subagentRunId: 'b' }),
    { type: 'SUBAGENT_FINISHED', subagentRunId: 'b' },
    { type: 'SUBAGENT_FINISHED', subagentRunId: 'a' },
  ]

  it('are its own at the root', async () => {
    const played = await play(remoteOf(...spans), hi)
    expect(said(played)).toEqual(spans.map((event) => brief(event as never)))
  })

  it('stand below its own span in a tree, also in two places at once', async () => {
    const agent = remoteOf(...spans)
    const root = handWritten('root', async function* (ctx) {
      const lanes = ['left', 'right'].map((segment) => () => ctx.delegate(agent, { segment }))
      for await (const { value } of merge(lanes, { onStrayError: () => undefined })) yield value
      return { type: 'done' }
    })
    const { events, outcome } = await play(root, hi)
    const started = ofType(events, 'SUBAGENT_STARTED')
    const above = (name: string) =>
      started.filter((one) => one.name === name).map((one) => one.parentSubagentRunId)
    const ids = (name: string) => started.filter((one) => one.name === name).map((one) => one.subagentRunId)
    expect(above('remote')).toEqual([undefined, undefined])
    expect(above('clerk')).toEqual(ids('remote'))
    expect(above('scribe')).toEqual(ids('clerk'))
    expect(new Set(started.map((one) => one.subagentRunId)).size).toBe(6)
    expect(outcome.messages.slice(1)).toMatchObject([{ content: 'Written.' }, { content: 'Written.' }])
  })
})

describe('the state', () => {
  const add = (key: string) => ({ type: 'STATE_DELTA', delta: [{ op: 'add', path: `/${key}`, value: 1 }] })

  it('is shared with the rest of the tree', async () => {
    const agent = remoteOf(add('mine'), { type: 'STATE_SNAPSHOT', snapshot: { given: 1, mine: 2 } })
    const root = handWritten('root', async function* (ctx) {
      yield* ctx.delegate(agent, { segment: '0' })
      yield { type: 'CUSTOM', name: 'seen', value: ctx.state }
      return { type: 'done' }
    })
    const { events, outcome } = await play(root, { ...hi, state: { given: 1 } })
    expect(ofType(events, 'CUSTOM')[0]?.value).toEqual({ given: 1, mine: 2 })
    expect(outcome.state).toEqual({ given: 1, mine: 2 })
    expect(ofType(events, 'STATE_DELTA')).toHaveLength(2)
  })

  it('keeps what others changed while the agent was at work', async () => {
    const agent = remoteOf({ type: 'STATE_SNAPSHOT', snapshot: { given: 1, mine: 1 } }, add('more'))
    const root = handWritten('root', async function* (ctx) {
      const child = ctx.delegate(agent, { segment: '0' })
      // Its span is open, and it has been given the state.
      yield await next(child)
      yield await next(child)
      yield ctx.setState((state: object) => ({ ...state, others: 1 }))
      for await (const event of child) yield event
      return { type: 'done' }
    })
    const { outcome } = await play(root, { ...hi, state: { given: 1 } })
    expect(outcome.state).toEqual({ given: 1, mine: 1, others: 1, more: 1 })
  })

  it('may be anything, and a patch that does not fit changes nothing', async () => {
    const problems: string[] = []
    const agent = remoteOf({ type: 'STATE_SNAPSHOT', snapshot: [1] }, add('x'), {
      type: 'STATE_SNAPSHOT',
      snapshot: 7,
    })
    const { outcome } = await play(agent, hi, { onProblem: (problem) => void problems.push(problem) })
    expect(outcome.state).toBe(7)
    expect(problems.join()).toMatch(/STATE_DELTA: the patch does not apply/)
  })
})

async function next<T>(source: AsyncGenerator<T>): Promise<T> {
  const step = await source.next()
  if (step.done === true) throw new Error('It is over.')
  return step.value
}

describe('a snapshot of messages', () => {
  const snapshot = (...messages: readonly object[]) => ({ type: 'MESSAGES_SNAPSHOT', messages })
  const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{}' } }
  const answer = [
    { id: 'r1', role: 'reasoning', content: 'Hm.', encryptedValue: 'x' },
    { id: 'm1', role: 'assistant', content: 'Looking.', toolCalls: [call] },
    { id: 't1', role: 'tool', toolCallId: 'c1', content: 'found' },
    { id: 'a1', role: 'activity', activityType: 'job', content: { done: 1 } },
    { id: 'm2', role: 'assistant', content: 'Here it is.' },
  ]

  it('tells what was not streamed', async () => {
    const { outcome, events } = await play(remoteOf(snapshot(user, ...answer)), hi)
    expect(outcome.messages).toEqual([user, ...answer])
    expect(ofType(events, 'MESSAGES_SNAPSHOT')).toEqual([])
  })

  it('tells nothing twice, also when it is sent twice or has other ids', async () => {
    const streamed = [...text('m1', 'Looking.'), snapshot(user, ...answer), snapshot(user, ...answer)]
    const renamed = answer.map((message) => ({ ...message, id: `${message.id}-other` }))
    const { outcome } = await play(remoteOf(...streamed, snapshot(user, ...renamed.slice(0, 3))), hi)
    expect(outcome.messages.map(({ id }) => id).toSorted()).toEqual(['a1', 'm1', 'm2', 'r1', 't1', 'u1'])
  })

  it('does not touch the conversation of the tree, nor tell what is older than this run', async () => {
    const client = createClient(
      handWritten('root', async function* (ctx) {
        yield { type: 'TEXT_MESSAGE_CHUNK', messageId: ctx.services.newId('message'), delta: 'I ask.' }
        const agent = remoteOf(
          snapshot(
            { id: 's', role: 'system', content: 'You are.' },
            { id: 'old', role: 'assistant', content: 'Long ago.' },
            { id: 'request', role: 'user', content: 'Go.' },
            { id: 'm9', role: 'assistant', content: 'Gone.' },
            { id: 'x', role: 'stranger', content: 'Who?' },
          ),
        )
        return yield* ctx.delegate(agent, {
          segment: '0',
          messages: [{ id: 'request', role: 'user', content: 'Go.' }],
        })
      }),
    )
    await client.say('Hi.')
    expect(client.messages.map(({ content }) => content)).toEqual(['Hi.', 'I ask.', 'Gone.'])
  })

  it('of an agent that gives all messages new ids starts with the last word of the user', async () => {
    const { outcome } = await play(
      remoteOf(
        snapshot(
          { id: '1', role: 'assistant', content: 'Long ago.' },
          { id: '2', role: 'user', content: 'Hi.' },
          { id: '3', role: 'assistant', content: 'Hello.' },
        ),
      ),
      hi,
    )
    expect(outcome.messages.map(({ content }) => content)).toEqual(['Hi.', 'Hello.'])
  })

  it('that is malformed is an error', async () => {
    const { outcome } = await play(remoteOf(snapshot(user, { id: 'm1', role: 'assistant', content: 7 })), hi)
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'INVALID_EVENT' } })
  })
})

describe('tool calls with an id that another agent has used', () => {
  const call = (id: string) => [
    { type: 'TOOL_CALL_START', toolCallId: id, toolCallName: 'look' },
    { type: 'TOOL_CALL_ARGS', toolCallId: id, delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId: id },
  ]

  it('are kept apart, and the agent knows its own again', async () => {
    const remote = new ScriptedAgUi((_, index) => whole(...(index === 0 ? call('c1') : text('m1', 'Seen.'))))
    const agent = fromAgUi(remote, { name: 'remote' })
    const root = handWritten('root', async function* (ctx) {
      const own = ctx.services.callId('c1')
      if (own === 'c1') {
        yield { type: 'TOOL_CALL_CHUNK', toolCallId: 'c1', toolCallName: 'mine', delta: '{}' }
        yield { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', messageId: 't1', content: 'done' }
      }
      return yield* ctx.delegate(agent, { segment: '0' })
    })
    const client = createClient(root, [{ name: 'look', description: 'Looks.' }])
    const { outcome } = await client.say('Go.')
    if (outcome.type !== 'completed') throw new Error(outcome.type)
    const [pending] = outcome.pendingToolCalls
    expect(pending?.id).toMatch(/^c1~/)
    const result = { id: 't2', role: 'tool', toolCallId: pending?.id ?? '', content: 'seen' } as const
    await client.send({ messages: [...client.messages, result] })
    // What the one above has said and done is told as context.
    expect(remote.inputs[1]?.messages.filter(({ role }) => role !== 'user')).toMatchObject([
      { role: 'assistant', toolCalls: [{ id: 'c1' }] },
      { role: 'tool', toolCallId: 'c1', content: 'seen' },
    ])
  })

  it('have no results that answer the call of another', async () => {
    const result = { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', messageId: 't9', content: 'not mine' }
    const agent = below(remoteOf(result))
    const root = handWritten('top', async function* (ctx) {
      yield {
        type: 'TOOL_CALL_CHUNK',
        toolCallId: ctx.services.callId('c1'),
        toolCallName: 'mine',
        delta: '{}',
      }
      return yield* agent.run(ctx)
    })
    const { outcome } = await play(root, hi)
    expect(outcome).toMatchObject({ type: 'completed', pendingToolCalls: [{ id: 'c1' }] })
  })
})
