import type { Message } from '@ag-ui/core'
import type { Event } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { countingReads } from '../../../test/support/count-reads.js'
import { sequentialIds } from '../../core/ids.js'
import type { Part } from '../adk-types.js'
import { eventMark, type EventMark } from './marks.js'
import { newEvent } from './import-messages.js'
import { sessionMessages } from './history.js'
import { planSession, type PlanInput } from './plan-session.js'

let count = 0

/** An event of a run of ours, or of another writer when it has no mark. */
function event(author: string, parts: readonly Part[], mark?: EventMark, fields: Partial<Event> = {}): Event {
  const content = { role: author === 'user' ? 'user' : 'model', parts: [...parts] }
  const made = newEvent(
    { newId: () => `e${++count}` },
    { invocationId: `i${count}`, author, content, mark: { runId: 'r', ...mark } },
  )
  return { ...made, ...(mark ? {} : { customMetadata: {} }), ...fields }
}

const heard = (id: string, text = id): Event =>
  event('user', [{ text }], { messageIds: [id], partCounts: [1] })
const said = (id: string, text = id, author = 'root'): Event =>
  event(author, [{ text }], { messageIds: [id] })
const called = (...ids: string[]): Event =>
  event(
    'root',
    ids.map((id) => ({ functionCall: { id, name: 'look', args: {} } })),
    { messageIds: [] },
  )
const waits = (...ids: string[]): Event => ({ ...called(...ids), longRunningToolIds: ids })
const returned = (id: string, author = 'root'): Event =>
  event(author, [{ functionResponse: { id, name: 'look', response: { ok: 1 } } }], {})
const failed = (): Event => event('root', [], {}, { errorCode: '503' })

const user = (id: string, content: string = id): Message => ({ id, role: 'user', content })
const assistant = (id: string, ...calls: string[]): Message => ({
  id,
  role: 'assistant',
  ...(calls.length === 0 ? { content: id } : { toolCalls: calls.map((call) => toolCall(call)) }),
})
const toolCall = (id: string, name = 'look') => ({
  id,
  type: 'function' as const,
  function: { name, arguments: '{}' },
})
const result = (toolCallId: string, content = '{"ok":2}'): Message => ({
  id: `r-${toolCallId}`,
  role: 'tool',
  toolCallId,
  content,
})

function plan(events: readonly Event[], messages: readonly Message[], more: Partial<PlanInput> = {}) {
  return planSession({
    events,
    messages,
    answers: [],
    saved: [],
    rootAuthor: 'root',
    toModelName: (name) => name,
    newId: sequentialIds(),
    ...more,
  })
}

const added = ({ add }: { readonly add: readonly Event[] }): unknown =>
  sessionMessages(add, { rootAuthor: 'root' })
const nothing = { content: undefined, messageIds: [], isDelivered: false }

describe('news', () => {
  it('is what users say after all that the session has, in one content', () => {
    const made = plan(
      [heard('u1'), said('a1')],
      [user('u1'), assistant('a1'), user('u2', 'Two'), user('u3', 'Three')],
    )
    expect(made).toMatchObject({ cut: [], add: [], authors: [] })
    expect(made.keep).toHaveLength(2)
    expect(made.news).toMatchObject({
      content: { role: 'user', parts: [{ text: 'Two' }, { text: 'Three' }] },
      messageIds: ['u2', 'u3'],
      isDelivered: false,
    })
  })

  it('is nothing when the session has it all and the agent has answered', () => {
    expect(plan([heard('u1'), said('a1')], [user('u1'), assistant('a1')]).news).toMatchObject(nothing)
    expect(plan([], []).news).toMatchObject(nothing)
  })

  it('is the results of the calls that wait, once for each, before what the user says', () => {
    const thread = [
      user('u1'),
      assistant('c1', 'c1'),
      result('c1'),
      result('c1', 'again'),
      assistant('c2', 'c2'),
      result('c2', 'text'),
      user('u2'),
    ]
    const { news, authors } = plan([heard('u1'), waits('c1', 'c2')], thread)
    expect(news.content?.parts).toEqual([
      { functionResponse: { id: 'c1', name: 'look', response: { ok: 2 } } },
      { functionResponse: { id: 'c2', name: 'look', response: { result: 'text' } } },
      { text: 'u2' },
    ])
    expect(news.messageIds).toEqual(['u2'])
    expect(authors).toEqual(['root'])
  })

  it('leaves out results that the session has', () => {
    const { news } = plan(
      [heard('u1'), waits('c1', 'c2'), returned('c1')],
      [user('u1'), assistant('a', 'c1', 'c2'), result('c1'), result('c2')],
    )
    expect(news.content?.parts?.map(({ functionResponse }) => functionResponse?.id)).toEqual(['c2'])
  })

  it('tells of a result that came late in words, and only once', () => {
    const session = [heard('u1'), waits('c1'), heard('u2'), said('a2')]
    const thread = [user('u1'), assistant('c1', 'c1'), result('c1', 'red'), user('u2'), assistant('a2')]
    const { news } = plan(session, thread)
    expect(news.content?.parts).toEqual([
      { text: '[The result of an earlier call of look has come in late: red]' },
    ])
    expect(news.mark.lateCallIds).toEqual(['c1'])
    const delivered = event('user', news.content?.parts ?? [], news.mark)
    expect(plan([...session, delivered, said('a3')], [...thread, assistant('a3')]).news).toMatchObject(
      nothing,
    )
    expect(sessionMessages([delivered])).toEqual([])
  })

  it('is not the result of a call that nobody made, or that only clients know of', () => {
    const confirm: Message = { id: 'a', role: 'assistant', toolCalls: [toolCall('x', 'confirm_changes')] }
    const made = plan(
      [heard('u1'), said('a1')],
      [user('u1'), assistant('a1'), confirm, result('x'), result('unknown')],
    )
    expect(made).toMatchObject({ add: [], news: nothing })
  })

  it('has names as models know them', () => {
    const thread = [user('u1'), assistant('a', 'c1'), result('c1')]
    const { add, news } = plan([], thread, { toModelName: (name) => `client_${name}` })
    expect(add[1]?.content?.parts?.[0]?.functionCall?.name).toBe('client_look')
    expect(news.content?.parts?.[0]?.functionResponse?.name).toBe('client_look')
  })
})

describe('an attempt before', () => {
  it.each([
    ['had stored only the message', []],
    ['ended with an error', [failed()]],
    ['had run a tool', [called('c1'), returned('c1')]],
    ['had run a tool, then failed', [called('c1'), returned('c1'), failed()]],
    ['was stopped while a tool was at work', [called('c1')]],
  ])('that %s is gone on with, though the thread knows nothing of it', (_, rest) => {
    const events = [heard('u1'), said('a1'), heard('u2'), ...rest]
    const made = plan(events, [user('u1'), assistant('a1'), user('u2')])
    expect(made).toMatchObject({ keep: events, cut: [], add: [] })
    expect(made.news).toMatchObject({
      content: { parts: [{ text: 'u2' }] },
      messageIds: ['u2'],
      isDelivered: true,
    })
  })

  it('that had answered is taken back: the client wants another answer', () => {
    const [first, second] = [heard('u1'), said('a1')]
    const made = plan([first, second], [user('u1')])
    expect(made).toMatchObject({
      keep: [],
      cut: [first.id, second.id],
      news: { messageIds: ['u1'], isDelivered: false },
    })
  })

  it('of the same run is gone on with, whatever it has said', () => {
    const events = [heard('u1'), said('a1', 'half of it', 'first')]
    const made = plan(events, [user('u1')], { runId: 'r' })
    expect(made).toMatchObject({ keep: events, cut: [], news: { isDelivered: true } })
  })

  it('at a message that was edited since is not gone on with', () => {
    const attempts = [[failed()], [called('c1'), returned('c1')]]
    for (const rest of attempts) {
      const made = plan([heard('u1', 'Old'), ...rest], [user('u1', 'New')])
      expect(made).toMatchObject({
        keep: [],
        news: { content: { parts: [{ text: 'New' }] }, isDelivered: false },
      })
    }
  })

  it('goes on with results that were delivered, also beside calls that wait', () => {
    const thread = [user('u1'), assistant('a', 'c1'), result('c1'), assistant('b', 'c2')]
    const made = plan([heard('u1'), waits('c1', 'c2'), returned('c1', 'user')], thread)
    expect(made).toMatchObject({ news: { isDelivered: true }, authors: ['root'] })
  })

  it('that waits for somebody is not gone on with', () => {
    const thread = [user('u1'), assistant('a', 'c1')]
    expect(plan([heard('u1'), waits('c1')], thread).news).toMatchObject(nothing)
    const asks = event('root', [{ functionCall: { id: 'q', name: 'adk_request_confirmation' } }], {})
    expect(plan([heard('u1'), called('c1'), asks], thread).news).toMatchObject(nothing)
  })
})

describe('a thread that was changed', () => {
  it('cuts whole turns, and all that follow', () => {
    const events = [
      heard('u1'),
      said('a1'),
      heard('u2'),
      called('c1'),
      returned('c1'),
      said('a2'),
      heard('u3'),
      said('a3'),
    ]
    const made = plan(events, [user('u1'), assistant('a1'), user('u2'), assistant('x', 'c1'), result('c1')])
    expect(made.keep).toEqual(events.slice(0, 2))
    expect(made.cut).toEqual(events.slice(2).map(({ id }) => id))
    expect(added(made)).toMatchObject([{ id: 'u2' }, { id: 'x', toolCalls: [{ id: 'c1' }] }])
    expect(made.news.content?.parts).toMatchObject([{ functionResponse: { id: 'c1' } }])
  })

  it('honours earlier cuts, and does not note them again', () => {
    const events = [heard('u1'), said('a1')]
    const note = event('user', [], { cut: events.map(({ id }) => id) })
    const made = plan([...events, note, heard('u2'), said('a2')], [user('u2'), assistant('a2'), user('u3')])
    expect(made).toMatchObject({ cut: [], add: [], news: { messageIds: ['u3'] } })
    expect(made.keep.map((kept) => eventMark(kept).messageIds)).toEqual([['u2'], ['a2']])
  })

  it('does not cut for calls that clients may not have been shown', () => {
    const moves = event('root', [{ functionCall: { id: 'm', name: 'transfer_to_agent', args: {} } }], {})
    const asks = event('root', [{ functionCall: { id: 'q', name: 'adk_request_input' } }], {})
    const hidden = event('root', [{ text: '{"structured":true}' }], {})
    const events = [heard('u1'), moves, returned('m'), hidden, asks, said('a1', 'a1', 'child')]
    expect(plan(events, [user('u1'), assistant('a1'), user('u2')])).toMatchObject({ keep: events, cut: [] })
  })

  it('does not bring back an answer that was broken off within a turn', () => {
    const events = [heard('u1'), said('a2')]
    const made = plan(events, [user('u1'), assistant('a1'), assistant('a2'), user('u2')])
    expect(made).toMatchObject({ keep: events, cut: [], add: [], news: { messageIds: ['u2'] } })
  })
})

describe('messages that the session lacks', () => {
  it('come before the news, results behind their calls', () => {
    const thread = [
      user('u1'),
      assistant('x', 'c1', 'c2'),
      result('c1'),
      result('c2'),
      assistant('a1'),
      user('u2'),
    ]
    const made = plan([], thread)
    expect(made.add.map(({ author }) => author)).toEqual(['user', 'root', 'root', 'root'])
    expect(added(made)).toMatchObject([
      { id: 'u1' },
      { id: 'x', toolCalls: [{ id: 'c1' }, { id: 'c2' }] },
      { toolCallId: 'c1' },
      { toolCallId: 'c2' },
      { id: 'a1' },
    ])
    expect(made.news.messageIds).toEqual(['u2'])
    expect(new Set(made.add.map(({ id }) => id)).size).toBe(made.add.length)
  })

  it('are only those of a message that are missing', () => {
    const both: Message = {
      id: 'a',
      role: 'assistant',
      content: 'Let me see.',
      toolCalls: [toolCall('c1')],
    }
    const made = plan(
      [heard('u1'), said('a', 'Let me see.')],
      [user('u1'), both, result('c1'), assistant('a2'), user('u2')],
    )
    expect(added(made)).toMatchObject([
      { id: 'a', toolCalls: [{ id: 'c1' }] },
      { toolCallId: 'c1' },
      { id: 'a2' },
    ])
    expect(made.add[0]?.content?.parts).toHaveLength(1)
  })

  it('may be the result of a call that the session has', () => {
    const made = plan(
      [heard('u1'), called('c1')],
      [user('u1'), assistant('x', 'c1'), result('c1'), assistant('a1'), user('u2')],
    )
    expect(added(made)).toMatchObject([{ toolCallId: 'c1' }, { id: 'a1' }])
  })

  it('are not what was taken back, instructions, or empty', () => {
    const rejected: Message = {
      id: 'no',
      role: 'assistant',
      content: 'No.',
      metadata: { millrace: { rejected: 'failed' } },
    }
    const thread: Message[] = [
      { id: 's', role: 'system', content: 'Be kind.' },
      { id: 'd', role: 'developer', content: 'Be brief.' },
      user('u0', ''),
      user('u1'),
      rejected,
      { id: 'e', role: 'assistant', content: '' },
      { id: 'act', role: 'activity', activityType: 'x', content: {} },
      assistant('a1'),
      user('u2'),
    ]
    expect(added(plan([], thread))).toMatchObject([{ id: 'u1' }, { id: 'a1' }])
  })

  it('carry the name of the agent who said them, but never that of a user', () => {
    const named = (id: string, name: string): Message => ({ id, role: 'assistant', content: id, name })
    const made = plan([], [user('u1'), named('a1', 'helper'), named('a2', 'user'), user('u2')])
    expect(made.add.map(({ author }) => author)).toEqual(['user', 'helper', 'root'])
  })
})

describe('a session made elsewhere', () => {
  const foreign = [
    event('user', [{ text: 'Hi' }]),
    event('root', [{ text: 'Hello' }]),
    event('user', [{ text: 'Bye' }]),
    event('root', [{ text: 'Ciao' }]),
  ]

  it('is kept when the thread knows nothing of it', () => {
    const made = plan(foreign, [user('u1')])
    expect(made).toMatchObject({ keep: foreign, cut: [], add: [], news: { messageIds: ['u1'] } })
    const later = [...foreign, heard('u1'), said('a1')]
    expect(plan(later, [user('u1'), assistant('a1'), user('u2')])).toMatchObject({ keep: later, add: [] })
  })

  it('is not brought in again when the thread was read from it', () => {
    const made = plan(foreign, [...sessionMessages(foreign), user('u1')])
    expect(made).toMatchObject({ keep: foreign, cut: [], add: [], news: { messageIds: ['u1'] } })
  })

  it('is cut when a client goes on from an earlier place of it', () => {
    const made = plan(foreign, [...sessionMessages(foreign).slice(0, 2), user('u1')])
    expect(made).toMatchObject({ keep: foreign.slice(0, 2), add: [], news: { messageIds: ['u1'] } })
    expect(made.cut).toHaveLength(2)
  })
})

describe('answers to questions of ADK', () => {
  const asks = event(
    'helper',
    [{ functionCall: { id: 'q', name: 'adk_request_confirmation', args: {} } }],
    {},
  )
  const turn = [heard('u1'), called('c1'), asks]
  const answer: Part = {
    functionResponse: { id: 'q', name: 'adk_request_confirmation', response: { confirmed: true } },
  }
  const thread = [user('u1'), assistant('x', 'c1')]

  it('are the news, for the agent who asked', () => {
    const made = plan(turn, thread, { answers: [answer], saved: turn })
    expect(made).toMatchObject({
      keep: turn,
      cut: [],
      add: [],
      authors: ['helper'],
      news: { messageIds: [] },
    })
    expect(made.news.content?.parts).toEqual([answer])
  })

  it('have the turn restored that the session has lost, behind what comes before it', () => {
    const before = [user('u0'), assistant('a0')]
    const made = plan([], [...before, ...thread], { answers: [answer], saved: turn })
    expect(added(made)).toMatchObject([
      { id: 'u0' },
      { id: 'a0' },
      { id: 'u1' },
      { toolCalls: [{ id: 'c1' }] },
    ])
    expect(made.add.at(-1)?.content).toEqual(asks.content)
    expect(made.add.map(({ id }) => id)).not.toContain(asks.id)
    expect(made.authors).toEqual(['helper'])
    const part = plan(turn.slice(0, 2), thread, { answers: [answer], saved: turn })
    expect(part.add.map(({ content }) => content)).toEqual([asks.content])
  })

  it('stand alone, since models see nothing of an event with an answer: what users say is stored before', () => {
    const made = plan(turn, [...thread, user('u2')], { answers: [answer] })
    expect(made.news.content?.parts).toEqual([answer])
    expect(made.add.map(({ content }) => content?.parts)).toEqual([[{ text: 'u2' }]])
    expect(plan([...turn, ...made.add], [...thread, user('u2')], { answers: [answer] }).add).toEqual([])
  })

  it('are not given twice, and not without the question', () => {
    const given = event('user', [answer], {})
    expect(plan([...turn, given], thread, { answers: [answer] })).toMatchObject({
      news: { isDelivered: true },
      authors: ['helper'],
    })
    expect(
      plan([heard('u1'), said('a1')], [user('u1'), assistant('a1')], { answers: [answer] }).news,
    ).toMatchObject(nothing)
  })
})

it('takes work in proportion to the conversation', () => {
  const work = (turns: number): number => {
    const ids = Array.from({ length: turns }, (_, n) => n)
    const events = ids.flatMap((n) => [heard(`u${n}`), called(`c${n}`), returned(`c${n}`), said(`a${n}`)])
    const thread = ids.flatMap((n) => [
      user(`u${n}`),
      assistant(`x${n}`, `c${n}`),
      result(`c${n}`),
      assistant(`a${n}`),
    ])
    const { watch, reads } = countingReads()
    plan(watch(events), watch([...thread, user('new')]))
    plan([], watch([...thread, user('new')]))
    return reads()
  }
  // In proportion to the square it would be 16 times the work.
  expect(work(400)).toBeLessThan(work(100) * 4.5)
})

it('reads no more of a long conversation than of a short one', () => {
  const { watch, reads } = countingReads()
  // The mark of a run's first event tells the next run where both stand.
  const work = (turns: number): number => {
    const events: Event[] = []
    const thread: Message[] = [{ id: 'system', role: 'system', content: 'Be kind.' }]
    for (let n = 0; n < turns; n++) {
      thread.push(user(`u${n}`))
      const { news } = plan(events, thread)
      expect(news.messageIds).toEqual([`u${n}`])
      events.push(event('user', news.content?.parts ?? [], news.mark))
      events.push(called(`c${n}`), returned(`c${n}`), said(`a${n}`))
      thread.push(assistant(`x${n}`, `c${n}`), result(`c${n}`), assistant(`a${n}`))
    }
    const before = reads()
    const watched = [...thread, user('new')].map((message) => watch(message))
    const found = plan(
      events.map((stored) => watch(stored)),
      watched,
    )
    expect(found.keep).toHaveLength(turns * 4)
    expect([found.add, found.cut, found.instructions]).toEqual([[], [], ['Be kind.']])
    expect(found.news.messageIds).toEqual(['new'])
    return reads() - before
  }
  expect(work(1_000)).toBe(work(10))
})
