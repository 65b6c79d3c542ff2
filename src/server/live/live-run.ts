import type { Message } from '@ag-ui/core'
import type { ThreadKey } from '../../threads/contract.js'
import type { Feed } from './feed.js'

/** A run at work in this process. Connections come and go; the run belongs to the registry. */
export interface LiveRun {
  readonly key: ThreadKey
  readonly runId: string
  readonly feed: Feed
  /** The number of its first event. */
  readonly firstSeq: number
  readonly startedAt: number
  /** Whether its thread has been committed never before. */
  readonly isFirst: boolean
  /** What a client holds that has seen nothing of this run: for those who come late. */
  readonly start: { readonly messages: readonly Message[]; readonly state: unknown }
  /** Stops it. Cancelled when there is no reason; else failed, with that. */
  stop(reason?: Error): void
  /** Asks it to stop when the tools at work have run. Stopped at once when that takes longer than `timeoutMs`. */
  stopAfterTools(timeoutMs: number): void
  /** Resolves when it is over, committed, and its thread is free again. Never rejects. */
  readonly done: Promise<void>
}
