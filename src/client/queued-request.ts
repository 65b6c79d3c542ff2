import type { JsonPatchOperation, Message, ResumeEntry } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import type { RunResult } from './contract.js'
import type { ThreadView } from './thread-view.js'

/** Something to send. The first of the queue is sent when no run is live. */
export interface QueuedRequest {
  readonly runId: string
  readonly messages: readonly Message[]
  readonly resume: readonly ResumeEntry[]
  readonly patch?: readonly JsonPatchOperation[]
  /** Whether the messages are new to the thread: then they are shown at once. */
  readonly isNew: boolean
  /** How many rounds of client tools led to it. */
  readonly round: number
  readonly resolve: (result: RunResult) => void
  /** Whether the server may have got it, another run was live, or the version is not known: the thread is loaded first. */
  mustCheck: boolean
}

/** The members that differ from those of an empty request. */
export type NewRequest = Partial<Omit<QueuedRequest, 'runId'>>

export function createRequest(
  runId: string,
  given: NewRequest,
  resolve: QueuedRequest['resolve'],
): QueuedRequest {
  return { messages: [], resume: [], isNew: true, round: 0, resolve, mustCheck: false, ...given, runId }
}

/** Whether the thread shows that the server has got a request. */
export function hasArrived({ runId, messages, isNew }: QueuedRequest, view: ThreadView): boolean {
  if (view.lastRun?.runId === runId) return true
  return isNew && messages.length > 0 && messages.every(({ id }) => view.content.hasMessage(id))
}

/** What became of a request that has arrived, when the thread is at rest. */
export function resultOf({ runId }: QueuedRequest, { lastRun }: ThreadView): RunResult {
  return lastRun?.runId === runId ? lastRun : { runId, status: 'completed' }
}

export function failedRequest({ runId }: QueuedRequest, error: MillraceError): RunResult {
  return { runId, status: 'failed', error }
}

/** The error of what is sent after `close`, or was not sent before it. */
export function threadClosed(): MillraceError {
  return new MillraceError('RUN_CANCELLED', 'The thread was closed.')
}
