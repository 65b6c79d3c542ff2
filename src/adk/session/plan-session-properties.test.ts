import type { AssistantMessage, Message, ToolMessage, UserMessage } from '@ag-ui/core'
import type { Event } from '@google/adk'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { sequentialIds } from '../../core/ids.js'
import type { Part } from '../adk-types.js'
import { eventMark, type EventMark } from './marks.js'
import { sessionMessages } from './history.js'
import { newEvent, asUserContent } from './import-messages.js'
import { planSession, type SessionPlan } from './plan-session.js'
import { hasCallParts } from './session-events.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

/** What an agent does in a turn: it speaks, calls tools, fails, is stopped while it speaks, or waits for the client. */
type Deed = 'text' | 'tool' | 'both' | 'fail' | 'stopped' | 'client' | 'clients'

type Step =
  | { readonly type: 'send'; readonly messages: number; readonly deeds: readonly Deed[] }
  | {
      readonly type: 'answer'
      readonly all: boolean
      readonly says: boolean
      readonly deeds: readonly Deed[]
    }
  | { readonly type: 'retry'; readonly deeds: readonly Deed[] }
  | { readonly type: 'edit' | 'regenerate'; readonly at: number; readonly deeds: readonly Deed[] }
  | { readonly type: 'lose'; readonly from: 'start' | 'end' | 'all'; readonly share: number }

const deed = fc.constantFrom<Deed>('text', 'tool', 'both', 'fail', 'stopped', 'client', 'clients')
const deeds = fc.array(deed, { maxLength: 4 })
const share = fc.double({ min: 0, max: 1, noNaN: true })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant('send' as const),
      messages: fc.integer({ min: 1, max: 2 }),
      deeds,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      type: fc.constant('answer' as const),
      all: fc.boolean(),
      says: fc.boolean(),
      deeds,
    }),
  },
  { weight: 1, arbitrary: fc.record({ type: fc.constant('retry' as const), deeds }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constantFrom('edit' as const, 'regenerate' as const), at: share, deeds }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      type: fc.constant('lose' as const),
      from: fc.constantFrom('start' as const, 'end' as const, 'all' as const),
      share,
    }),
  },
)

/** A thread and a session that go through changes. */
function createWorld() {
  const newId = sequentialIds()
  let thread: Message[] = []
  let stored: Event[] = []

  /** Makes the same plan with and without anchors. */
  const plan = (): SessionPlan => {
    const found = planFrom(stored)
    expect(essence(found)).toEqual(essence(planFrom(stored.map(withoutAnchor))))
    expect(found.keep.slice(0, found.plainCount).some(hasCallParts)).toBe(false)
    return found
  }

  const planFrom = (events: readonly Event[]): SessionPlan =>
    planSession({
      events,
      messages: thread,
      answers: [],
      saved: [],
      rootAuthor: 'root',
      toModelName: same,
      newId,
    })

  function store(author: string, parts: readonly Part[], mark: EventMark, fields: Partial<Event> = {}): void {
    const content = author === 'user' ? asUserContent(parts) : { role: 'model', parts: [...parts] }
    const invocationId = `run-${newId('count')}`
    stored.push({
      ...newEvent({ newId }, { invocationId, author, content, mark: { runId: 'r', ...mark } }),
      ...fields,
    })
  }

  const perform: Record<Deed, () => boolean> = {
    text() {
      const id = newId('answer')
      thread.push({ id, role: 'assistant', content: `says ${id}` })
      store('root', [{ text: `says ${id}` }], { messageIds: [id] })
      return true
    },
    tool: () => call({ hasText: false }),
    both: () => call({ hasText: true }),
    fail: () => false,
    stopped() {
      const id = newId('answer')
      thread.push({
        id,
        role: 'assistant',
        content: `half of ${id}`,
        metadata: { millrace: { cutOff: true } },
      })
      return false
    },
    client: () => waits(1),
    clients: () => waits(2),
  }

  function call({ hasText }: { readonly hasText: boolean }): boolean {
    const id = newId('answer')
    const callId = newId('call')
    const text = hasText ? { content: `calls ${callId}` } : {}
    thread.push({ id, role: 'assistant', ...text, toolCalls: [toolCall(callId)] })
    const parts = [
      ...(hasText ? [{ text: `calls ${callId}` }] : []),
      { functionCall: { id: callId, name: 'look', args: {} } },
    ]
    store('root', parts, { messageIds: hasText ? [id] : [] })
    thread.push({ id: newId('result'), role: 'tool', toolCallId: callId, content: `of ${callId}` })
    store(
      'root',
      [{ functionResponse: { id: callId, name: 'look', response: { result: `of ${callId}` } } }],
      {},
    )
    return true
  }

  function waits(count: number): boolean {
    const ids = Array.from({ length: count }, () => newId('call'))
    for (const id of ids) thread.push({ id, role: 'assistant', toolCalls: [toolCall(id)] })
    const parts = ids.map((id) => ({ functionCall: { id, name: 'pick', args: {} } }))
    store('root', parts, { messageIds: [] }, { longRunningToolIds: ids })
    return false
  }

  function addUserMessage(): void {
    const id = newId('user')
    thread.push({ id, role: 'user', content: `asks ${id}` })
  }

  /** Results go right behind their calls, as the server puts them. */
  function answer(isAll: boolean): void {
    const answered = new Set(
      thread.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
    )
    const open = thread
      .flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
      .filter(({ id }) => !answered.has(id))
    for (const { id } of isAll ? open : open.slice(0, 1)) {
      const holder = thread.findIndex(
        (message) => message.role === 'assistant' && message.toolCalls?.some((c) => c.id === id),
      )
      const message: ToolMessage = {
        id: newId('result'),
        role: 'tool',
        toolCallId: id,
        content: `{"of":"${id}"}`,
      }
      thread.splice(holder + 1, 0, message)
    }
  }

  function fork(at: number, isEdit: boolean): void {
    const users = thread.flatMap(({ role }, position) => (role === 'user' ? [position] : []))
    const position = users[Math.floor(at * users.length)] ?? users.at(-1)
    if (position === undefined) return
    thread = thread.slice(0, position + (isEdit ? 0 : 1))
    if (isEdit) addUserMessage()
  }

  function lose(from: 'start' | 'end' | 'all', of: number): void {
    const count = from === 'all' ? stored.length : Math.floor(of * stored.length)
    stored = from === 'end' ? stored.slice(0, stored.length - count) : stored.slice(count)
  }

  function change(next: Step): void {
    switch (next.type) {
      case 'send':
        for (let n = 0; n < next.messages; n++) addUserMessage()
        break
      case 'answer':
        answer(next.all)
        if (next.says) addUserMessage()
        break
      case 'retry':
        break
      case 'edit':
      case 'regenerate':
        fork(next.at, next.type === 'edit')
        break
      case 'lose':
        lose(next.from, next.share)
    }
  }

  function apply({ note, add }: SessionPlan): void {
    stored.push(...(note ? [note] : []), ...add)
  }

  return {
    plan,
    change,
    apply,
    thread: () => thread,
    stored: () => stored,
    deliver({ news }: SessionPlan): void {
      if (news.content && !news.isDelivered) store('user', news.content.parts ?? [], news.mark)
    },
    run: (todo: readonly Deed[]) => todo.every((what) => perform[what]()),
  }
}

function withoutAnchor(event: Event): Event {
  const { anchor: _, ...mark } = eventMark(event)
  return { ...event, customMetadata: { millrace: mark } }
}

function essence({ keep, cut, add, news, authors, instructions }: SessionPlan) {
  return {
    keep: keep.map(({ id }) => id),
    cut,
    add: add.map(({ author, content }) => ({ author, content })),
    news: { ...news, mark: { ...news.mark, anchor: undefined } },
    ...{ authors, instructions },
  }
}

function same(name: string): string {
  return name
}

function toolCall(id: string) {
  return { id, type: 'function' as const, function: { name: 'look', arguments: '{}' } }
}

/** What was said and called, in order; and which calls have results. */
function conversation(messages: readonly Message[], late: readonly string[] = []) {
  const spoken = messages.filter(
    (m): m is UserMessage | AssistantMessage => m.role === 'user' || m.role === 'assistant',
  )
  const calls = new Set(
    spoken.flatMap((m) => (m.role === 'assistant' ? (m.toolCalls ?? []) : [])).map(({ id }) => id),
  )
  const results = messages.flatMap((m) =>
    m.role === 'tool' && calls.has(m.toolCallId) ? [m.toolCallId] : [],
  )
  return {
    spoken: spoken.flatMap((m) => [
      ...(m.content === undefined ? [] : [`${m.role} ${m.id}: ${JSON.stringify(m.content)}`]),
      ...(m.role === 'assistant' ? (m.toolCalls ?? []).map(({ id }) => `call ${id}`) : []),
    ]),
    results: [...results, ...late].sort(),
  }
}

it('makes the conversation of a session that of the thread, and has nothing to do the second time', () => {
  const steps = fc.array(step, { minLength: 1, maxLength: 12 })
  fc.assert(
    fc.property(steps, (all) => {
      const world = createWorld()
      for (const next of all) {
        world.change(next)
        const plan = world.plan()
        // An attempt that failed, and a thread without it: the session knows more, and it is gone on with.
        if (plan.news.isDelivered && next.type === 'regenerate') return
        world.apply(plan)
        const again = world.plan()
        expect({ cut: again.cut, add: again.add }).toEqual({ cut: [], add: [] })
        expect(again.news).toEqual(plan.news)
        world.deliver(plan)
        const late = world
          .stored()
          .flatMap((event) => (isCut(world.stored(), event) ? [] : (eventMark(event).lateCallIds ?? [])))
        expect(conversation(sessionMessages(world.stored()), late)).toEqual(conversation(world.thread()))
        const delivered = world.plan()
        expect({ cut: delivered.cut, add: delivered.add }).toEqual({ cut: [], add: [] })
        expect(delivered.news.content === undefined || delivered.news.isDelivered).toBe(true)
        expect(delivered.news.content).toEqual(plan.news.content)
        if (plan.news.content && 'deeds' in next) world.run(next.deeds)
        expect(world.plan().cut).toEqual([])
      }
    }),
    { numRuns: propertyRuns(200) },
  )
})

function isCut(stored: readonly Event[], { id }: Event): boolean {
  return stored.some((event) => eventMark(event).cut?.includes(id))
}
