import type { Clock } from '../../core/clock.js'
import type { Connection } from './connection.js'
import { createLeases, type SqliteLeases } from './leases.js'
import { createLogState } from './log-state.js'
import { createThreadParts, type ThreadParts } from './thread-parts.js'
import { createThreadTable, type ThreadTable } from './thread-table.js'
import { createLogWatch, type LogWatch } from './watch.js'

/** What the halves of a store share. */
export interface StoreContext {
  readonly connection: Connection
  readonly clock: Clock
  readonly leases: SqliteLeases
  readonly watch: LogWatch
  readonly table: ThreadTable
  readonly parts: ThreadParts
}

/** Prepares the statements, so the tables must be there. */
export function createContext(connection: Connection, clock: Clock): StoreContext {
  return {
    connection,
    clock,
    leases: createLeases(connection, clock),
    watch: createLogWatch({ clock, ...createLogState(connection) }),
    table: createThreadTable(connection),
    parts: createThreadParts(connection),
  }
}
