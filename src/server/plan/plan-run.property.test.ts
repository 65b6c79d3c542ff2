import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { countingReads } from '../../../test/support/count-reads.js'
import { talk } from '../../../test/support/talk.js'
import { planRequest, type PlanFacts } from '../../../test/support/plan-request.js'
import { createFold, isImported, isReported } from '../../protocol/index.js'
import { planRun } from './plan-run.js'
import type { PlanRequest, RunPlan } from './run-plan.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const runs = propertyRuns(300)

interface Facts extends PlanFacts {
  readonly stored: readonly Message[]
  readonly client: readonly Message[]
}

/** Conversations of a few turns, with calls of which some have results. */
const turnWords = fc.constantFrom(
  ['u', 'a'],
  ['u', 'r', 'a'],
  ['u', 'a()', 't'],
  ['u', 'a()', 't', 'v', 'a'],
  ['u', 'a()'],
  ['s', 'u', 'a'],
  ['u'],
)
const stored = fc.array(turnWords, { maxLength: 4 }).map((turns) => talk(turns.flatMap(toWords).join(' ')))

function toWords(words: readonly string[], turn: number): string[] {
  return words.map((word, n) => {
    if (word === 'a()') return `a${turn}${n}(c${turn},d${turn})`
    return word === 't' ? `t-c${turn}` : `${word}${turn}${n}`
  })
}

const strangers = talk('u90 u91 s90 d90 a90(c9) r90 v90 t-c9')

/** A request: some of what is stored, edited or not, in some order, and some of what is not. */
const facts: fc.Arbitrary<Facts> = stored.chain((messages) => {
  const calls = messages.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  const results = calls.flatMap(({ id }) => talk(`t-${id}*`))
  const edited = messages.flatMap(({ id, role }) => (role === 'user' ? talk(`${id}*`) : []))
  const copies = structuredClone(messages)
  const answered = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
  const known = fc.oneof(
    fc.nat(copies.length).map((end) => copies.slice(0, end)),
    fc.nat(copies.length).map((start) => copies.slice(start)),
    fc.subarray(copies),
    fc.shuffledSubarray(copies),
    fc.constant(copies),
  )
  const news = fc.shuffledSubarray([...strangers, ...results, ...edited], { maxLength: 4 })
  const client = fc
    .tuple(known, news, fc.boolean())
    .map(([old, fresh, isBehind]) => uniqueIds(isBehind ? [...old, ...fresh] : [...fresh, ...old]))
  const pending = fc.subarray(calls.map(({ id }) => id).filter((id) => !answered.has(id)))
  return fc.record({ stored: fc.constant(messages), client, pending })
})

function uniqueIds(messages: readonly Message[]): Message[] {
  return [...new Map(messages.map((message) => [message.id, message])).values()]
}

const start = (plan: RunPlan) => ('messages' in plan ? plan : undefined)
const isSpoken = ({ role }: Message): boolean => role !== 'reasoning' && role !== 'activity'
const isFromPeople = ({ role }: Message): boolean => ['user', 'system', 'developer'].includes(role)
const idsOf = (messages: readonly Message[]): string[] => messages.map(({ id }) => id)

/** Checks a property of all plans that start a run or store results. At least some of them must. */
function forPlans(check: (plan: NonNullable<ReturnType<typeof start>>, given: Facts) => void): void {
  let checked = 0
  fc.assert(
    fc.property(facts, (given) => {
      const plan = start(planRun(planRequest(given)))
      if (!plan) return
      checked++
      check(plan, given)
    }),
    { numRuns: runs },
  )
  expect(checked).toBeGreaterThan(runs * 0.4)
}

it('the conversation is what is kept and what is appended', () => {
  forPlans(({ messages, change: { keep, append } }, given) => {
    expect(messages).toEqual([...given.stored.slice(0, keep), ...append])
    expect(messages.slice(0, keep).every((message, n) => message === given.stored[n])).toBe(true)
    expect(append[0] === undefined || append[0] !== given.stored[keep]).toBe(true)
  })
})

it('an id names one message', () => {
  forPlans(({ messages }) => {
    expect(new Set(idsOf(messages)).size).toBe(messages.length)
  })
})

it('nothing that the agent has said comes from a client, unless it is marked', () => {
  forPlans(({ messages }, given) => {
    const own = new Set(given.stored)
    const pending = new Set(given.pending)
    for (const message of messages) {
      if (own.has(message) || isFromPeople(message) || isReported(message)) continue
      if (given.stored.length === 0 && isImported(message)) continue
      expect(message.role === 'tool' && pending.delete(message.toolCallId)).toBe(true)
    }
  })
})

it('all that people have said is delivered', () => {
  forPlans(({ messages }, given) => {
    const known = new Set(idsOf(given.stored))
    const fresh = given.client.filter((message) => isFromPeople(message) && !known.has(message.id))
    expect(idsOf(messages)).toEqual(expect.arrayContaining(idsOf(fresh)))
  })
})

it('only a fork takes messages away', () => {
  forPlans(({ messages, fork }, given) => {
    const left = new Set(messages)
    expect(fork || given.stored.every((message) => left.has(message))).toBe(true)
  })
})

it('a plan that stores results lacks others', () => {
  forPlans(({ type, messages, change }, given) => {
    if (type !== 'store') return
    const answered = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
    expect(change.append.length).toBeGreaterThan(0)
    expect(given.pending?.every((id) => answered.has(id))).toBe(false)
  })
})

it('the catchUp leaves the client with the conversation', () => {
  forPlans(({ messages, catchUp }, given) => {
    const client = createFold({ messages: given.client })
    for (const event of catchUp) expect(client.apply(event)).toBeUndefined()
    expect(idsOf(client.messages.filter(isSpoken)).sort()).toEqual(idsOf(messages.filter(isSpoken)).sort())
  })
})

/** The thread after a run that has started with this plan, and has said this. */
function after(request: PlanRequest, plan: RunPlan, said: readonly Message[]): PlanRequest {
  const { thread, input } = request
  const begun = start(plan)
  if (!thread || !begun) return request
  const messages = [...begun.messages, ...said]
  const calls = new Set(messages.flatMap((one) => (one.role === 'assistant' ? idsOfCalls(one) : [])))
  const answered = new Set(messages.flatMap((one) => (one.role === 'tool' ? [one.toolCallId] : [])))
  const pendingToolCalls = thread.pendingToolCalls.filter(({ id }) => calls.has(id) && !answered.has(id))
  const run = { runId: input.runId, status: 'completed' as const, startedAt: 0, nextSeq: 0 }
  return { ...request, thread: { ...thread, messages, pendingToolCalls, run } }
}

function idsOfCalls({ toolCalls = [] }: Extract<Message, { role: 'assistant' }>): string[] {
  return toolCalls.map(({ id }) => id)
}

it.each([
  ['before the agent has answered', []],
  ['after the agent has answered', talk('r80 a80')],
])('a request that comes again is not new again: %s', (_when, said) => {
  let checked = 0
  fc.assert(
    fc.property(facts, (given) => {
      const request = planRequest(given)
      const plan = planRun(request)
      const left = new Set(start(plan)?.messages.map(({ id }) => id))
      // Who edits a message and still sends what followed it says that again, once the thread has forgotten it.
      const forgets = given.client.some((message) => isFromPeople(message) && !left.has(message.id))
      if (!start(plan) || forgets) return
      checked++
      expect(['nothing', 'refuse']).toContain(planRun(after(request, plan, said)).type)
    }),
    { numRuns: runs },
  )
  expect(checked).toBeGreaterThan(runs * 0.25)
})

it('never changes what it is given', () => {
  fc.assert(
    fc.property(facts, fc.constantFrom('server' as const, 'client' as const), (given, history) => {
      const request = planRequest({ ...given, history, state: { a: { b: 1 } }, clientState: { a: { c: 1 } } })
      const { thread, input } = request
      const copies = structuredClone([thread, input])
      planRun(request)
      expect([thread, input]).toEqual(copies)
    }),
  )
})

it('takes no more work per message for a long conversation', () => {
  const work = (turns: number): number => {
    const messages = talk(Array.from({ length: turns }, (_, n) => `u${n} a${n}(c${n}) t-c${n}`).join(' '))
    const { watch, reads } = countingReads()
    const client = [...structuredClone(messages), ...talk('u-new')]
    planRun(watch(planRequest({ stored: messages, client })))
    return reads()
  }
  expect(work(400)).toBeLessThan(work(100) * 4.5)
})
