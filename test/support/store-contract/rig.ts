import type { Message } from '@ag-ui/core'
import { afterEach, beforeEach } from 'vitest'
import { manualClock, type ManualClock } from '../../../src/core/clock.js'
import type {
  Lease,
  LogEntry,
  RunRecord,
  Store,
  Thread,
  ThreadChange,
  ThreadKey,
} from '../../../src/threads/contract.js'

/** A store that the contract is checked on. */
interface StoreUnderTest {
  readonly store: Store
  /** Closes the store and opens the same data again. Only stores that outlive their process have it. */
  reopen?(): Promise<Store>
  /** Opens the same data once more beside the first, as another process does. */
  openAnother?(): Promise<Store>
  /** The size of all data. Only stores whose data has a size have it. */
  bytes?(): Promise<number>
  /** How many rows there are for messages. Only stores that have rows have it. */
  messageRows?(): Promise<number>
  /** Closes everything, `reopen`ed and other stores included, and removes the data. */
  cleanUp(): Promise<void>
}

export type OpenStore = (clock: ManualClock) => Promise<StoreUnderTest>

/** Helpers of the contract's tests. The store and the clock are new for each test. */
export interface Rig {
  readonly clock: ManualClock
  readonly store: Store
  readonly underTest: StoreUnderTest
  /** A lease for longer than any test moves the clock. */
  hold(key: ThreadKey, owner?: string): Promise<Lease>
  /** Acquires a lease, commits to the current version, and releases. Returns the stored thread. */
  save(key: ThreadKey, change?: Partial<ThreadChange>): Promise<Thread>
  /** The stored thread; throws if there is none. */
  stored(key: ThreadKey): Promise<Thread>
  /** The whole log of a run. */
  logOf(key: ThreadKey, runId: string): Promise<readonly LogEntry[]>
}

const longTtl = 1e12

/** Opens a store before each test and closes it afterwards. */
export function createRig(open: OpenStore): Rig {
  let clock = manualClock()
  let underTest: StoreUnderTest | undefined
  beforeEach(async () => {
    clock = manualClock(1_700_000_000_000)
    underTest = await open(clock)
  })
  afterEach(async () => {
    await underTest?.cleanUp()
    underTest = undefined
  })
  const current = (): StoreUnderTest => {
    if (underTest === undefined) throw new Error('There is a store only inside of a test.')
    return underTest
  }
  return {
    get clock() {
      return clock
    },
    get underTest() {
      return current()
    },
    get store() {
      return current().store
    },
    hold: (key, owner) => hold(current().store, key, owner),
    async save(key, change) {
      const { store } = current()
      const lease = await hold(store, key)
      const version = (await store.threads.load(key))?.version ?? 0
      await store.threads.commit(lease, changeOf({ version, ...change }))
      await store.leases.release(lease)
      return stored(store, key)
    },
    stored: (key) => stored(current().store, key),
    logOf: (key, runId) => logOf(current().store, key, runId),
  }
}

export async function hold(store: Store, key: ThreadKey, owner = 'process-1'): Promise<Lease> {
  const lease = await store.leases.acquire(key, { owner, ttlMs: longTtl })
  if (lease === undefined) throw new Error(`The thread ${key.thread} is held already.`)
  return lease
}

export async function stored(store: Store, key: ThreadKey): Promise<Thread> {
  const thread = await store.threads.load(key)
  if (thread === undefined) throw new Error(`The thread ${key.thread} is not stored.`)
  return thread
}

export function logOf(store: Store, key: ThreadKey, runId: string): Promise<readonly LogEntry[]> {
  return store.log.read(key, { runId, after: -1 }, 1_000_000)
}

export function keyOf(thread: string, owner: Partial<ThreadKey> = {}): ThreadKey {
  return { app: 'app', user: 'user', agent: 'agent', thread, ...owner }
}

/** An empty change, made from version 0. */
export function changeOf(change: Partial<ThreadChange> = {}): ThreadChange {
  return { version: 0, keep: 0, append: [], state: {}, interrupts: [], pendingToolCalls: [], ...change }
}

export function runOf(runId: string, run: Partial<RunRecord> = {}): RunRecord {
  return { runId, status: 'running', startedAt: 1_600_000_000_000, nextSeq: 0, ...run }
}

/** User messages with these ids. */
export function messagesOf(...ids: readonly string[]): Message[] {
  return ids.map((id) => ({ id, role: 'user', content: `content of ${id}` }))
}

/** Log lines that all differ. */
export function linesOf(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => lineOf(name, index))
}

export function lineOf(name: string, index: number): string {
  return JSON.stringify({ type: 'CUSTOM', name, value: index })
}

/** Waits for a promise while the clock moves, since a store may poll. */
export async function inTime<T>(clock: ManualClock, promise: Promise<T>): Promise<T> {
  const settled = new AbortController()
  const settle = (): void => settled.abort()
  promise.then(settle, settle)
  for (let turn = 0; turn < 200 && !settled.signal.aborted; turn++) await clock.advance(50)
  return promise
}
