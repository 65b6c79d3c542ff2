import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { isCutOff, isRejected, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/contract.js'
import { compose } from './insert-messages.js'
import { findCut, hasFailed, isRepetition } from './find-cut.js'
import { freshAnswers, legacyAnswers } from './fresh-answers.js'
import { mergeState, seenOf, type Knowledge } from '../state/merge-state.js'
import { openingOf } from './catch-up.js'
import { planClientTurn } from './plan-client-run.js'
import { readRequest, type RequestReading } from './read-messages.js'
import { indexStored, isSpoken, type StoredIndex } from './message-index.js'
import type { TurnPlan, TurnRequest, TurnStart } from './run-plan.js'

export type { TurnPlan, TurnRequest } from './run-plan.js'

/**
 * Decides what a request means for a stored thread: what is new in it, what a run starts with, and whether there is
 * anything to run. Changes nothing.
 */
export function planTurn(request: TurnRequest): TurnPlan {
  const { thread, input } = request
  const given = input.resume.length > 0 ? input.resume : legacyAnswers(thread, input.forwardedProps)
  const resume = freshAnswers(thread, given)
  if (resume instanceof MillraceError) return { type: 'refuse', error: resume }
  const fresh = { ...request, input: { ...request.input, resume } }
  return request.history === 'client' ? planClientTurn(fresh) : planServerTurn(fresh)
}

/** A request that has been compared with what is stored. */
interface Turn extends TurnRequest {
  readonly index: StoredIndex
  readonly reading: RequestReading
}

function planServerTurn(request: TurnRequest): TurnPlan {
  const { thread, input } = request
  const index = indexStored(thread?.messages ?? [])
  const reading = readRequest(input.messages, index, request)
  const turn: Turn = { ...request, index, reading }
  // What people say meanwhile is not taken. Clients send it again, once the questions are answered.
  if (isUnanswered(thread, input)) return { type: 'run', ...startOf(turn, { isUnanswered: true }) }
  // A run that is gone on with stands on the messages it left; nothing is cut from under it.
  if (input.resume.length > 0) return { type: 'run', ...startOf(turn) }
  const isRepeated = isRepetition(thread, input.runId)
  const cut = findCut(reading, index, { isRepeated, arrivedAt: request.arrivedAt ?? index.messages.length })
  if (cut !== undefined) return { type: 'run', ...startOf(turn, { cut }) }
  if (reading.fresh.length === 0 && reading.results.length === 0) return planIdleTurn(turn)
  const isHeld = !reading.fresh.some(({ role }) => role === 'user') && lacksResults(turn)
  return { type: isHeld ? 'hold' : 'run', ...startOf(turn) }
}

/** Whether questions are open and the request answers none of them. */
function isUnanswered(thread: Thread | undefined, { resume }: RunInput): boolean {
  if (!thread || thread.interrupts.length === 0) return false
  const open = new Set(thread.interrupts.map(({ id }) => id))
  return !resume.some(({ interruptId }) => open.has(interruptId))
}

/** Nothing is new. */
function planIdleTurn(turn: Turn): TurnPlan {
  const { thread, index, reading } = turn
  const { newest } = reading
  if (newest?.role === 'tool' && isStray(newest.toolCallId, index)) {
    const message = `The tool call '${newest.toolCallId}' was never made in this thread.`
    const details = { toolCallId: newest.toolCallId }
    return { type: 'refuse', error: new MillraceError('NO_TOOL_RESULTS', message, { details }) }
  }
  const isUnfinished = hasFailed(thread?.run) && isTurnOfAgent(index) && !lacksResults(turn)
  const start = startOf(turn)
  if (isUnfinished) return { type: 'run', ...start }
  // A change of the state alone is kept, and nobody is asked.
  return thread && start.state !== thread.state ? { type: 'hold', ...start } : { type: 'nothing' }
}

function isStray(toolCallId: string, { holderOf, hasResult }: StoredIndex): boolean {
  return holderOf(toolCallId) === undefined && !hasResult(toolCallId)
}

/** Whether the last that was said is for the agent to answer. What was taken back or cut off is as if it had not been said. */
function isTurnOfAgent({ messages }: StoredIndex): boolean {
  const last = messages.findLast((message) => isSpoken(message) && !isRejected(message) && !isCutOff(message))
  return last?.role === 'user' || last?.role === 'tool'
}

/**
 * Whether calls of the latest turn still wait for results. Those from before a user message do not count: nobody waits
 * for them any more, and one that is never answered must not stop the thread.
 */
function lacksResults({ thread, index, reading }: Turn): boolean {
  const taken = new Set(reading.results.map(({ toolCallId }) => toolCallId))
  const turnStart = index.messages.findLastIndex(({ role }) => role === 'user')
  return (thread?.pendingToolCalls ?? []).some(
    ({ id }) => !taken.has(id) && !index.hasResult(id) && (index.holderOf(id) ?? -1) > turnStart,
  )
}

interface StartOptions {
  readonly cut?: number
  readonly isUnanswered?: boolean
}

function startOf(turn: Turn, { cut, isUnanswered = false }: StartOptions = {}): TurnStart {
  const { thread, input, rules, index, reading } = turn
  const { results } = reading
  const fresh = isUnanswered ? [] : freshOf(reading, cut)
  const { messages, change } = compose(index, { cut, results, fresh })
  // Who cuts a thread decides how it goes on from there.
  const knows = cut === undefined ? knowledgeOf(turn) : 'all'
  const state = mergeState({
    ...seenOf(thread, rules),
    stored: thread?.state,
    client: input.state,
    knows,
    rules,
  })
  const shown = isUnanswered ? withWaiting(messages, reading) : messages
  const opening = openingOf({ input, messages: shown, state, rules })
  return { messages, change, state, opening, fork: cut !== undefined, resume: input.resume }
}

/** The conversation with what the client is to send again: a snapshot without it would take it from the client. */
function withWaiting(messages: readonly Message[], { fresh, edit }: RequestReading): readonly Message[] {
  const edited = edit?.message
  return [...messages.map((message) => (message.id === edited?.id ? edited : message)), ...fresh]
}

/** What goes to the end, an edited message in its place among the new ones. */
function freshOf({ fresh, edit }: RequestReading, cut: number | undefined): readonly Message[] {
  if (!edit || cut === undefined) return fresh
  return [...fresh.slice(0, edit.after), edit.message, ...fresh.slice(edit.after)]
}

function knowledgeOf({ index, reading }: Turn): Knowledge {
  const latest = index.spoken.at(-1)
  if (latest === undefined || reading.known.includes(latest)) return 'all'
  return reading.knowsAny ? 'some' : 'none'
}
