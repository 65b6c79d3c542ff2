import type { Event } from '@google/adk'
import type { Part } from '../adk-types.js'
import { callsWaitingForPerson, isRequestPart, isWaitingForPerson } from '../interrupts/request-calls.js'

/**
 * Puts each answer of an agent's model into one event, and the results of its calls right behind it. Models send parallel
 * calls in chunks, and each chunk is an event of its own. ADK looks for the call of the latest result only, and drops all
 * that came after that call: other calls, and results that it has.
 */
export function withWholeAnswers(events: readonly Event[], agentName: string): readonly Event[] {
  const answerOf = new Map<string, ModelAnswer>()
  const latest = new Map<string | undefined, ModelAnswer>()
  const shown = events.flatMap((event): readonly (Event | ModelAnswer)[] => {
    const { author, branch, content } = event
    if (author !== agentName || !content?.parts) return [event]
    for (const id of callsWaitingForPerson(event)) answerOf.get(id)?.waitFor(id)
    if (content.parts.some(isRequestPart)) return [event]
    const parts = content.parts.filter((part) => !takeResult(part, event, answerOf))
    if (parts.length === 0) return []
    const rest = parts.length === content.parts.length ? event : { ...event, content: { ...content, parts } }
    const current = latest.get(branch)
    const isContinued = current?.isContinuedBy(rest) === true
    if (!isContinued && !parts.some(({ functionCall }) => functionCall)) return [rest]
    const answer = isContinued ? current : new ModelAnswer(rest)
    for (const id of answer.add(rest)) answerOf.set(id, answer)
    latest.set(branch, answer)
    return isContinued ? [] : [answer]
  })
  return shown.flatMap((entry) => (entry instanceof ModelAnswer ? entry.toEvents() : [entry]))
}

/** Gives a result to the answer with its call. Returns false when there is none. */
function takeResult(part: Part, event: Event, answerOf: ReadonlyMap<string, ModelAnswer>): boolean {
  const id = part.functionResponse?.id ?? ''
  const answer = answerOf.get(id)
  answer?.addResult(id, part, event)
  return answer !== undefined
}

/** One answer of a model with calls, and their results. */
class ModelAnswer {
  readonly #first: Event
  readonly #parts: Part[] = []
  /** By call id, in the order of the calls. */
  readonly #results = new Map<string, Part | undefined>()
  readonly #waiting = new Set<string>()
  // Of the newest part: ADK leaves out what is older than its summary of the conversation.
  #timestamp = 0

  constructor(first: Event) {
    this.#first = first
  }

  /** Whether an event is more of this answer: while a call waits for the client or a person, the model is not called. */
  isContinuedBy({ invocationId, content }: Event): boolean {
    return this.#waiting.size > 0 && invocationId === this.#first.invocationId && content?.role === 'model'
  }

  /** Adds an event of this answer. Returns the ids of its calls. */
  add({ content, timestamp, longRunningToolIds = [] }: Event): string[] {
    const parts = content?.parts ?? []
    const ids = parts.flatMap(({ functionCall }) => functionCall?.id ?? [])
    this.#parts.push(...parts)
    for (const id of ids) this.#results.set(id, undefined)
    for (const id of longRunningToolIds) this.#waiting.add(id)
    this.#timestamp = timestamp
    return ids
  }

  waitFor(callId: string): void {
    this.#waiting.add(callId)
  }

  /** Adds the result of a call. A later one replaces it: the first may say that the tool waits for a person. */
  addResult(callId: string, part: Part, event: Event): void {
    this.#results.set(callId, part)
    if (!isWaitingForPerson(callId, event)) this.#waiting.delete(callId)
    this.#timestamp = event.timestamp
  }

  toEvents(): readonly Event[] {
    const answer = { ...this.#first, timestamp: this.#timestamp }
    const results = [...this.#results.values()].flatMap((part) => part ?? [])
    const events = [{ ...answer, content: { ...answer.content, parts: this.#parts } }]
    return results.length === 0
      ? events
      : [...events, { ...answer, content: { role: 'user', parts: results } }]
  }
}
