import type { Message, ToolCall } from '@ag-ui/core'
import { MessageSchema } from '@ag-ui/core/schemas'
import { isEqual, isRecord } from '../../core/json.js'
import { checkValue } from '../check/check-value.js'
import { toShape } from '../check/schema-shape.js'
import type { EventOf } from '../contract.js'
import { addMetadata } from '../fold/message-list.js'
import { isRejected, rejectedMark, retryEventName, rewriteEventName } from '../messages.js'
import { messageItemsOf } from './items.js'
import { isLaneWithin, openLaneOfTag } from './lanes.js'
import { withLaneTag, type Lane, type RunState } from './run-state.js'

const messageShape = toShape(MessageSchema)

/**
 * Writes a CUSTOM event. Two of them change messages that clients have: `millrace.retry` rejects some, `millrace.rewrite`
 * has new versions of others. The fold has the change at once, clients at the end of the run.
 */
export function writeCustomEvent(run: RunState, event: EventOf<'CUSTOM'>): void {
  const lane = openLaneOfTag(run, event.subagentRunId)
  const value = isRecord(event.value) ? event.value : {}
  if (event.name === rewriteEventName) return writeRewrite(run, lane, { ...event, value })
  if (event.name === retryEventName) return writeRetry(run, lane, { ...event, value })
  run.emit(withLaneTag(event, lane))
}

interface ValueEvent extends EventOf<'CUSTOM'> {
  readonly value: Readonly<Record<string, unknown>>
}

/** Messages of subagents that have ended bear no mark: no event may be theirs any more. */
function writeRetry(run: RunState, lane: Lane, event: ValueEvent): void {
  const messageIds = wireIds(run, lane, event.value.messageIds)
  const reason = typeof event.value.reason === 'string' ? event.value.reason : ''
  for (const id of messageIds) rejectInFold(run, id, reason)
  const value = messageIds.length === 0 ? event.value : { ...event.value, messageIds }
  run.emit(withLaneTag({ ...event, value }, lane))
}

/** The event leaves with whole messages and the ids that clients know. */
function writeRewrite(run: RunState, lane: Lane, event: ValueEvent): void {
  const entries: readonly unknown[] = Array.isArray(event.value.messages) ? event.value.messages : []
  const rewritten = entries.flatMap((entry) => rewriteInFold(run, lane, entry))
  const messages = rewritten.map(({ message }) => message)
  const messageIds = [
    ...rewritten.flatMap(({ orphans }) => orphans),
    ...wireIds(run, lane, event.value.messageIds),
  ]
  for (const id of messageIds) rejectInFold(run, id, 'rewritten')
  if (messages.length === 0 && messageIds.length === 0) return
  const value = { messages, ...(messageIds.length === 0 ? {} : { messageIds }) }
  run.emit(withLaneTag({ ...event, value }, lane))
}

interface RewrittenMessage {
  readonly message: Message
  /** Ids of the results whose call the message no longer has. */
  readonly orphans: readonly string[]
}

/** The new version of a message. None when nothing changes, or nothing valid comes of it. */
function rewriteInFold(run: RunState, lane: Lane, entry: unknown): RewrittenMessage[] {
  const old = isRecord(entry) ? findMessage(run, lane, entry) : undefined
  if (!old || !isRecord(entry)) {
    run.report(`${rewriteEventName}: there is no message '${isRecord(entry) ? String(entry.id) : ''}'`)
    return []
  }
  if (old.role === 'user' && lane !== run.root) {
    run.report(`${rewriteEventName}: message '${old.id}' is the user's, and subagents do not rewrite it`)
    return []
  }
  const { value, issues } = checkValue(withNewContent(old, entry), messageShape)
  const [issue] = issues
  if (issue) {
    run.report(`${rewriteEventName}: message '${old.id}': ${issue.field}: ${issue.message}`)
    return []
  }
  // The walk has just compared every member with the schema this type is generated from.
  const message = value as Message
  if (isEqual(message, old)) return []
  run.fold.list.replace(message)
  run.mustRestate = true
  if (message.role === 'reasoning') run.mustRestateReasoning = true
  return [{ message, orphans: orphansOf(run, old, message) }]
}

type Members = Readonly<Record<string, unknown>>

/** The members that are there are new, all others stay; a signature or an error of the old text does not. */
function withNewContent(old: Message, { content, toolCalls, encryptedValue, error }: Members): object {
  const {
    content: text,
    toolCalls: calls,
    encryptedValue: signature,
    error: failure,
    ...kept
  } = old as Members
  const isSameText = content === undefined || isEqual(content, text)
  return defined({
    ...kept,
    content: content ?? text,
    toolCalls: Array.isArray(toolCalls) ? newCalls(calls, toolCalls) : calls,
    encryptedValue: encryptedValue ?? (isSameText ? signature : undefined),
    error: error ?? (isSameText ? failure : undefined),
  })
}

/** A call keeps what is known of it beside its name and arguments. */
function newCalls(before: unknown, calls: readonly unknown[]): readonly unknown[] | undefined {
  const known = new Map((Array.isArray(before) ? before.filter(isRecord) : []).map((call) => [call.id, call]))
  const next = calls.map((call) => (isRecord(call) ? { ...known.get(call.id), ...call } : call))
  return next.length === 0 ? undefined : next
}

function defined(members: Members): object {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined))
}

/** The message that an agent means. Its call identifies a result. */
function findMessage(run: RunState, lane: Lane, { id, role, toolCallId }: Members): Message | undefined {
  const { list } = run.fold
  if (role === 'tool' && typeof toolCallId === 'string')
    return list.all.findLast((one) => one.role === 'tool' && one.toolCallId === toolCallId)
  if (typeof id !== 'string') return undefined
  const [item] = messageItemsOf(run, id).filter(
    (one) => isLaneWithin(one.lane, lane) && (one.kind === 'reasoning') === (role === 'reasoning'),
  )
  const message = list.get(item?.id ?? id)
  // To other agents a message may look like the user's.
  return message?.role === role ? message : undefined
}

/** The ids on the wire of messages that a lane, or one below it, has written in this run. */
function wireIds(run: RunState, lane: Lane, ids: unknown): string[] {
  if (!Array.isArray(ids)) return []
  return (ids as unknown[]).flatMap((id) =>
    messageItemsOf(run, String(id))
      .filter((item) => isLaneWithin(item.lane, lane) && run.fold.list.get(item.id) !== undefined)
      .map((item) => item.id),
  )
}

function rejectInFold(run: RunState, id: string, reason: string): void {
  const message = run.fold.list.own(id)
  if (!message || isRejected(message)) return
  addMetadata(message, { metadata: rejectedMark(reason) })
  run.mustRestate = true
}

function orphansOf(run: RunState, before: Message, after: Message): string[] {
  const kept = new Set(toolCallsOf(after).map(({ id }) => id))
  const gone = new Set(
    toolCallsOf(before)
      .map(({ id }) => id)
      .filter((id) => !kept.has(id)),
  )
  if (gone.size === 0) return []
  return run.fold.messages.flatMap((one) => (one.role === 'tool' && gone.has(one.toolCallId) ? [one.id] : []))
}

/**
 * Ends a run whose streamed messages no longer add up to the history: one snapshot brings clients the messages that count.
 * Costs nothing in any other run.
 */
export function restateMessages(run: RunState): void {
  if (!run.mustRestate) return
  const { messages } = run.fold
  const counting = countingMessages(messages)
  const rejected = messages.filter((one) => one.role === 'reasoning').filter(isRejected)
  const withReasoning = run.mustRestateReasoning || rejected.length > 0
  // Clients keep activities that no snapshot has, and reasoning too, in their places.
  const shown = counting.filter(({ role }) => role !== 'activity' && (withReasoning || role !== 'reasoning'))
  const hasReasoning = shown.some(({ role }) => role === 'reasoning')
  // Without any reasoning in the snapshot, clients would keep all of it.
  const emptied = hasReasoning ? [] : rejected.map((one): Message => ({ ...one, content: '' }))
  run.restate(counting, { type: 'MESSAGES_SNAPSHOT', messages: [...shown, ...emptied] })
}

/** The messages that count: without those that were rejected, and without the results of their calls. */
export function countingMessages(messages: readonly Message[]): readonly Message[] {
  if (!messages.some(isRejected)) return messages
  const calls = messages.flatMap((one) => (isRejected(one) ? toolCallsOf(one) : []))
  const gone = new Set(calls.map(({ id }) => id))
  return messages.filter((one) => !isRejected(one) && !(one.role === 'tool' && gone.has(one.toolCallId)))
}

function toolCallsOf(message: Message): readonly ToolCall[] {
  return message.role === 'assistant' ? (message.toolCalls ?? []) : []
}
