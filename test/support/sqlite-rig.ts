import Database from 'libsql'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect } from 'vitest'
import { manualClock, type ManualClock } from '../../src/core/clock.js'
import type { Lease, RunRecord, Store, ThreadChange, ThreadKey } from '../../src/threads/contract.js'
import { createSqliteStore, type SqliteStore } from '../../src/threads/sqlite/store.js'

export const key: ThreadKey = { app: 'app', user: 'user', agent: 'agent', thread: 'thread' }
export const run: RunRecord = { runId: 'run', status: 'running', startedAt: 0, nextSeq: 0 }
export const storeError = expect.objectContaining({ code: 'STORE_ERROR' }) as unknown

/** A folder for SQLite stores. It is new for each test, and gone with its stores afterwards. */
export interface SqliteRig {
  readonly folder: string
  readonly path: string
  readonly clock: ManualClock
  readonly open: (path?: string) => Promise<SqliteStore>
  /** Does something to the file behind the back of the store. */
  readonly meddle: <T>(work: (database: Database.Database) => T) => T
}

/** Call it at the top of a test file, or in a `describe`. */
export function sqliteRig(): SqliteRig {
  let folder = ''
  let clock = manualClock()
  const stores: Store[] = []
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'millrace-sqlite-'))
    clock = manualClock(1_000_000)
  })
  afterEach(async () => {
    await Promise.all(stores.splice(0).map((store) => store.close()))
    await rm(folder, { recursive: true })
  })
  return {
    get folder() {
      return folder
    },
    get path() {
      return join(folder, 'threads.db')
    },
    get clock() {
      return clock
    },
    async open(path = join(folder, 'threads.db')) {
      const store = await createSqliteStore({ path, clock })
      stores.push(store)
      return store
    },
    meddle(work) {
      const database = new Database(join(folder, 'threads.db'))
      try {
        return work(database)
      } finally {
        database.close()
      }
    },
  }
}

export async function hold(store: Store, held = key, owner = 'p'): Promise<Lease> {
  const lease = await store.leases.acquire(held, { owner, ttlMs: 1_000 })
  if (lease === undefined) throw new Error('The thread is held already.')
  return lease
}

export function change(parts: Partial<ThreadChange> = {}): ThreadChange {
  return { version: 0, keep: 0, append: [], state: {}, interrupts: [], pendingToolCalls: [], ...parts }
}

export function messages(count: number): ThreadChange['append'] {
  return Array.from({ length: count }, (_, index) => ({ id: `m${index}`, role: 'user', content: 'Hello' }))
}
