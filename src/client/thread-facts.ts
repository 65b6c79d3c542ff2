import { isRecord } from '../core/json.js'
import type { PendingCall, RunResult } from './contract.js'
import { toClientError } from './http.js'

/** What the server says of a whole thread beside its messages and its state. */
export interface ThreadFacts {
  readonly version: number | undefined
  /** Of a thread without a live run. */
  readonly rest?: { readonly pendingIds: readonly string[]; readonly lastRun: LastRun | undefined }
}

interface LastRun {
  readonly runId: string
  readonly status: string
  readonly error?: { readonly code: string; readonly message: string }
}

/** Reads the value of CUSTOM `millrace.thread`. */
export function toThreadFacts(value: unknown): ThreadFacts {
  const facts = isRecord(value) ? value : {}
  const version = typeof facts.version === 'number' ? facts.version : undefined
  const calls = facts.pendingToolCalls as readonly { readonly id: string }[] | undefined
  const lastRun = facts.lastRun as LastRun | undefined
  return { version, ...(calls ? { rest: { pendingIds: calls.map(({ id }) => id), lastRun } } : {}) }
}

/** What became of the last run of a thread at rest. */
export function toRunResult({ runId, status, error }: LastRun, pending: readonly PendingCall[]): RunResult {
  return { runId, status: toRunStatus(status, pending), ...(error && { error: toClientError(error) }) }
}

/** From the outcome of an event, or the status of a stored run. */
export function toRunStatus(outcome: string, pending: readonly PendingCall[]): RunResult['status'] {
  if (outcome === 'interrupt' || outcome === 'interrupted') return 'interrupted'
  if (outcome === 'cancelled') return 'cancelled'
  if (outcome !== 'success' && outcome !== 'completed') return 'failed'
  return pending.length > 0 ? 'waiting-for-tools' : 'completed'
}
