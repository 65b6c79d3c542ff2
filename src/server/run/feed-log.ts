import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import type { LogEntry } from '../../threads/contract.js'
import type { Feed, FeedBatch, FeedOptions } from '../live/feed.js'
import type { RunOrder } from './run-agent.js'

type Logged = Pick<RunOrder, 'server' | 'lease' | 'record' | 'plan'>

/** The log of one run, as its feed writes and reads it. `stateNow` gives the full state, undefined while unchanged. */
export function createFeedLog(order: Logged, stateNow: () => unknown): FeedOptions {
  return new FeedLog(order, stateNow)
}

class FeedLog implements FeedOptions {
  readonly #order: Logged
  readonly #stateNow: () => unknown
  /** The private part of the state as the record of the run has it. Set when the state has changed. */
  #saved: Readonly<Record<string, unknown>> | undefined

  constructor(order: Logged, stateNow: () => unknown) {
    this.#order = order
    this.#stateNow = stateNow
  }

  get runId(): string {
    return this.#order.record.runId
  }

  get firstSeq(): number {
    return this.#order.record.nextSeq
  }

  get bufferBytes(): number {
    return this.#order.server.limits.bufferBytes
  }

  append({ firstSeq, lines }: FeedBatch): Promise<void> {
    const { server, lease } = this.#order
    const write = (): Promise<void> => server.store.log.append(lease, { runId: this.runId, firstSeq, lines })
    const saving = this.#savePrivate()
    return saving ? saving.then(write) : write()
  }

  read(after: number, limit: number): Promise<readonly LogEntry[]> {
    const { server, lease } = this.#order
    return server.store.log.read(lease.key, { runId: this.runId, after }, limit)
  }

  flushSoon(feed: Feed): void {
    this.#order.server.flusher.soon(feed)
  }

  /**
   * The log has only what clients may see. What they may not see is written to the record of the run, and first: should
   * the run be lost, it must not be older than the rest.
   */
  #savePrivate(): Promise<void> | undefined {
    const { server, lease, record, plan } = this.#order
    const state = this.#stateNow()
    if (state === undefined || !record.start) return undefined
    const hidden = this.#privateOf(state)
    this.#saved ??= this.#privateOf(plan.state)
    if (isEqual(hidden, this.#saved)) return undefined
    // A copy: a store may freeze what it is given, and the run goes on.
    const copy = structuredClone(hidden)
    // The rest stays as it was at the start, since the log has its changes.
    const visible = server.stateRules.visible(plan.state)
    const start = { ...record.start, state: { ...(isRecord(visible) ? visible : {}), ...copy } }
    return server.store.threads.begin(lease, { ...record, start }).then(() => {
      this.#saved = copy
    })
  }

  #privateOf(state: unknown): Readonly<Record<string, unknown>> {
    const { stored, isPrivate } = this.#order.server.stateRules
    const kept = stored(state)
    if (!isRecord(kept)) return {}
    return Object.fromEntries(Object.entries(kept).filter(([key]) => isPrivate(key)))
  }
}
