import type { Message } from '@ag-ui/core'
import { sortAnswers } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isEqual, isRecord } from '../../core/json.js'
import {
  type RunInput,
  countingMessages,
  hasLegacyAnswer,
  isRejected,
  isReported,
  legacyAnswers,
} from '../../protocol/index.js'
import type { PendingToolCall, Thread } from '../../threads/contract.js'
import { isEmptyState, mergeClientState, type Knowledge } from '../state/merge-state.js'
import { catchUpEvents } from './catch-up.js'
import {
  type MessageReading,
  findForkCut,
  isRepetition,
  isUnsuccessful,
  readClientMessages,
} from './client-messages.js'
import { importThread } from './imported-messages.js'
import type { PlanDetails, PlanRequest, RunPlan } from './run-plan.js'
import { findContinuation, withoutDrafts } from './unfinished-answer.js'
import {
  type MessageIndex,
  applyMessageChange,
  indexMessages,
  insertNewMessages,
  isConversation,
} from './stored-messages.js'

/**
 * Decides what a request means for a stored thread: what is new in it, what a run starts with, and whether there is
 * anything to run. Changes nothing.
 */
export function planRun(request: PlanRequest): RunPlan {
  const { thread, input } = request
  const answers =
    input.resume.length > 0 ? input.resume : legacyAnswers(thread?.interrupts ?? [], input.forwardedProps)
  const { fresh, repeated, error } = sortAnswers(answers, {
    open: thread?.interrupts.map(({ id }) => id) ?? [],
    answered: answeredInterrupts(thread?.checkpoint),
  })
  if (error) return { type: 'refuse', error }
  // An interrupt that was answered before stays answered: a second answer does nothing, except that it resumes a run that
  // failed later. The run reports it, if there is one.
  const isResumed = fresh.length > 0 || (repeated.length > 0 && hasFailedAfterAnswers(thread))
  const resume = isResumed ? [...answers] : []
  const resumed = { ...request, input: { ...input, resume }, isAnswer: isAnswer(input) }
  return request.history === 'client' ? planWithClientHistory(resumed) : planWithServerHistory(resumed)
}

/** Whether a request has answers, to open interrupts or not. */
function isAnswer({ resume, forwardedProps }: RunInput): boolean {
  return resume.length > 0 || hasLegacyAnswer(forwardedProps)
}

function answeredInterrupts(checkpoint: unknown): readonly string[] {
  return isRecord(checkpoint) && Array.isArray(checkpoint.answered) ? (checkpoint.answered as string[]) : []
}

/** Whether the last run failed or was cancelled after it had used its answers. */
function hasFailedAfterAnswers(thread: Thread | undefined): boolean {
  const { frames, pendingToolCallIds } = isRecord(thread?.checkpoint) ? thread.checkpoint : {}
  const isUnfinished = isRecord(frames) && Object.keys(frames).length > 0 && pendingToolCallIds === undefined
  return isUnfinished && thread?.interrupts.length === 0 && isUnsuccessful(thread.run)
}

/** A request whose answers are sorted: those of the input answer open interrupts. */
interface SortedRequest extends PlanRequest {
  /** Whether the client has sent any answers. */
  readonly isAnswer: boolean
}

/** A request that has been compared with the stored messages. */
interface ComparedRequest extends SortedRequest {
  /** Of the stored messages, or of the history that is imported. */
  readonly index: MessageIndex
  readonly reading: MessageReading
  readonly pendingToolCalls: readonly PendingToolCall[]
}

/** The plan when the stored messages are the conversation. A thread that is not stored takes the client's history. */
function planWithServerHistory(request: SortedRequest): RunPlan {
  const { thread, input, isAnswer } = request
  const compared = compare(request)
  const { index, reading } = compared
  // The run raises its interrupts again. Clients send their new messages again after they have answered.
  if (leavesInterruptsOpen(thread, input))
    return { type: 'run', ...planDetails(compared, { isUnanswered: true }) }
  // A resumed run needs the messages it left, and writes its drafts again.
  if (input.resume.length > 0)
    return { type: 'run', ...planDetails(compared, { keep: withoutDrafts(index.messages).length }) }
  const isRepeated = isRepetition(thread, input.runId)
  const { messagesOnArrival = index.messages.length } = request
  // An answer that comes again never asks for another one: what it allowed would be done twice.
  const cut = isAnswer ? undefined : findForkCut(reading, index, { isRepeated, messagesOnArrival })
  if (cut !== undefined) return { type: 'run', ...planDetails(compared, { keep: cut, isFork: true }) }
  if (!isAnswer && !isRepeated && asksAgain(compared)) return { type: 'run', ...planDetails(compared) }
  if (reading.fresh.length === 0 && reading.results.length === 0) return planWithoutNews(compared)
  const isIncomplete =
    !reading.fresh.some(({ role }) => role === 'user') && lacksResults(compared, reading.results)
  return { type: isIncomplete ? 'store' : 'run', ...planDetails(compared) }
}

/**
 * Whether a request ends with the last message of the thread, one of the user that was answered in no message: by data or a
 * state alone. There is nothing to cut off.
 */
function asksAgain({ thread, index, reading, messagesOnArrival }: ComparedRequest): boolean {
  const { newest, fresh, results } = reading
  // It came before that answer, as when a person clicks twice.
  if (messagesOnArrival !== undefined && messagesOnArrival < index.messages.length) return false
  const last = index.messages[index.conversation.at(-1) ?? -1]
  if (fresh.length > 0 || results.length > 0 || last?.role !== 'user' || newest?.id !== last.id) return false
  return thread?.run !== undefined && !isUnsuccessful(thread.run)
}

function compare(request: SortedRequest): ComparedRequest {
  const { thread, input, isLegacy } = request
  const imported = hasMessages(thread)
    ? undefined
    : importThread(countingMessages(input.messages), input.tools)
  const { messages, pendingToolCalls } = imported ?? thread ?? { messages: [], pendingToolCalls: [] }
  const index = indexMessages(messages)
  const reading = readClientMessages(imported?.list ?? withoutRejected(input.messages, index), index, {
    pendingToolCalls,
    interrupts: thread?.interrupts ?? [],
    isLegacy,
  })
  return { ...request, index, reading, pendingToolCalls }
}

/** A thread whose first request had a state alone takes the client's history, as one that is not stored. */
function hasMessages(thread: Thread | undefined): boolean {
  return thread !== undefined && thread.messages.length > 0
}

/** A client that was not there when a run ended still has what the run rejected. */
function withoutRejected(messages: readonly Message[], { hasId }: MessageIndex): readonly Message[] {
  if (!messages.some(isRejected)) return messages
  return messages.filter((message) => !isRejected(message) || hasId(message.id))
}

/** Whether interrupts are open and the request answers none of them. */
function leavesInterruptsOpen(thread: Thread | undefined, { resume }: RunInput): boolean {
  if (!thread || thread.interrupts.length === 0) return false
  const open = new Set(thread.interrupts.map(({ id }) => id))
  return !resume.some(({ interruptId }) => open.has(interruptId))
}

/** The plan for a request without new messages. */
function planWithoutNews(request: ComparedRequest): RunPlan {
  const { thread, index, reading } = request
  const { newest } = reading
  if (newest?.role === 'tool' && isUnknownCall(newest.toolCallId, index)) {
    const message = `The tool call '${newest.toolCallId}' was never made in this thread.`
    const details = { toolCallId: newest.toolCallId }
    return { type: 'refuse', error: new MillraceError('NO_TOOL_RESULTS', message, { details }) }
  }
  const continuation = findContinuation(index, thread?.run)
  if (continuation && !lacksResults(request, reading.results))
    return { type: 'run', ...planDetails(request, continuation) }
  const details = planDetails(request)
  if (isStateNew(thread, details.state)) return { type: 'store', ...details }
  return { type: 'nothing', catchUp: thread ? details.catchUp : [] }
}

/** Whether a request without news has a state to store: a change, or the first of a new thread. */
function isStateNew(thread: Thread | undefined, state: unknown): boolean {
  return thread ? state !== thread.state : !isEmptyState(state)
}

function isUnknownCall(toolCallId: string, { callerOf, hasResult }: MessageIndex): boolean {
  return callerOf(toolCallId) === undefined && !hasResult(toolCallId)
}

/**
 * Whether calls since the last user message wait for results. Earlier ones do not count: a call that is never answered
 * must not stop the thread.
 */
function lacksResults(
  { pendingToolCalls, index }: Pick<ComparedRequest, 'pendingToolCalls' | 'index'>,
  results: MessageReading['results'] = [],
): boolean {
  const answered = new Set(results.map(({ toolCallId }) => toolCallId))
  const lastUser = index.messages.findLastIndex(({ role }) => role === 'user')
  return pendingToolCalls.some(
    ({ id }) => !answered.has(id) && !index.hasResult(id) && (index.callerOf(id) ?? -1) > lastUser,
  )
}

interface DetailOptions {
  /** How many stored messages stay. Default: all. */
  readonly keep?: number
  /** Whether those that do not stay are kept in a fork. */
  readonly isFork?: boolean
  readonly isUnanswered?: boolean
}

function planDetails(
  request: ComparedRequest,
  { keep, isFork = false, isUnanswered = false }: DetailOptions = {},
): PlanDetails {
  const { thread, input, rules, index, reading, pendingToolCalls } = request
  const { results } = reading
  const fresh = isUnanswered ? [] : freshMessages(reading, isFork)
  const { messages, change: inserted } = insertNewMessages(index, { keep, results, fresh })
  const change = hasMessages(thread) ? inserted : { keep: 0, append: messages }
  // A client that cuts a thread decides how the thread continues.
  const knows = isFork ? 'all' : clientKnowledge(request)
  const state = startState(request, knows)
  const shown = isUnanswered ? withUnsentMessages(messages, reading) : messages
  const catchUp = catchUpEvents({ input, messages: shown, state, rules })
  const { resume } = input
  return { messages, change, state, catchUp, pendingToolCalls, fork: isFork, resume }
}

/** The full state that the run starts with. */
function startState({ thread, input, rules, initialState }: PlanRequest, knows: Knowledge): unknown {
  const client: unknown = input.state
  if (thread || initialState === undefined) return mergeClientState({ thread, client, knows, rules })
  return mergeClientState({ thread: { state: initialState }, client, knows: 'none', rules })
}

/** With the messages that the client is to send again: a snapshot without them would remove them there. */
function withUnsentMessages(
  messages: readonly Message[],
  { fresh, edit }: MessageReading,
): readonly Message[] {
  const edited = edit?.message
  return [...messages.map((message) => (message.id === edited?.id ? edited : message)), ...fresh]
}

/** The messages for the end, with an edited one at its position among the new ones. */
function freshMessages({ fresh, edit }: MessageReading, isFork: boolean): readonly Message[] {
  if (!edit || !isFork) return fresh
  return [...fresh.slice(0, edit.after), edit.message, ...fresh.slice(edit.after)]
}

function isReport({ messages }: MessageIndex, position: number): boolean {
  const message = messages[position]
  return message !== undefined && isReported(message)
}

function clientKnowledge({ thread, index, reading }: ComparedRequest): Knowledge {
  // No message tells whether the client has seen the state that the thread began with.
  if (thread && !hasMessages(thread) && isRecord(thread.state)) return 'none'
  const latest = index.conversation.findLast((position) => !isReport(index, position))
  if (latest === undefined || reading.known.includes(latest)) return 'all'
  return reading.knowsAny ? 'some' : 'none'
}

/** The plan when the client's messages are the conversation, whatever is stored. */
function planWithClientHistory(request: SortedRequest): RunPlan {
  const { thread, input, rules, isAnswer } = request
  if (!hasWork(thread, input) || (isAnswer && isDone(thread, input))) return planStateAlone(request)
  const { messages: stored = [], pendingToolCalls = [] } = thread ?? {}
  const messages = withoutDrafts(countingMessages(input.messages))
  const differing = messages.findIndex((message, n) => n >= stored.length || !isEqual(message, stored[n]))
  const keep = differing === -1 ? messages.length : differing
  const state = startState(request, 'all')
  const shown = messages === input.messages ? undefined : messages
  const isAboutInterrupts = input.resume.length > 0 || (thread?.interrupts.length ?? 0) > 0
  const isIncomplete =
    !isAboutInterrupts && lacksResults({ pendingToolCalls, index: indexMessages(messages) })
  return {
    type: isIncomplete ? 'store' : 'run',
    ...applyMessageChange(stored, { keep, append: messages.slice(keep) }),
    state,
    catchUp: catchUpEvents({ input, messages: shown, state, rules }),
    pendingToolCalls,
    fork: false,
    resume: input.resume,
  }
}

/** Stores the state of a request without work, if it is new. The stored messages stay. */
function planStateAlone(request: SortedRequest): RunPlan {
  const { thread, input, rules } = request
  const { messages = [], pendingToolCalls = [] } = thread ?? {}
  const state = startState(request, 'all')
  if (!isStateNew(thread, state)) return { type: 'nothing', catchUp: [] }
  const catchUp = catchUpEvents({ input, messages: undefined, state, rules })
  const change = { keep: messages.length, append: [] }
  return { type: 'store', messages, change, state, catchUp, pendingToolCalls, fork: false, resume: [] }
}

function hasWork(thread: Thread | undefined, input: RunInput): boolean {
  // Open interrupts are raised again: if the run just finished, the client would take them for closed.
  if (input.resume.length > 0 || (thread?.interrupts.length ?? 0) > 0) return true
  const last = withoutDrafts(input.messages).findLast(isConversation)
  return last !== undefined && last.role !== 'assistant'
}

/** Whether a request with answers has nothing new: all were given before, and its last message is stored. */
function isDone(thread: Thread | undefined, { resume, messages }: RunInput): boolean {
  if (resume.length > 0 || !thread || thread.interrupts.length > 0 || isUnsuccessful(thread.run)) return false
  const last = messages.findLast(isConversation)
  return thread.messages.some(({ id }) => id === last?.id)
}
