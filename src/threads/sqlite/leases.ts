import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'
import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Leases } from '../contract.js'
import { type SqlInteger, type SqliteConnection, keyMatches, keyParams, toSqlText } from './connection.js'

export interface SqliteLeases extends Leases {
  /** Throws LEASE_LOST if the lease was released or the thread leased again. For use in a transaction. */
  assertCurrent(lease: Lease): void
  /** Releases a lease. For use in a transaction. */
  drop(lease: Lease): void
}

interface LeaseRow {
  readonly token: SqlInteger
  readonly expires_at: SqlInteger
  readonly pid: SqlInteger
  readonly host: string
}

/** A lease is a row. Releasing deletes it, and taking over replaces it. */
export function createSqliteLeases(connection: SqliteConnection, clock: Clock): SqliteLeases {
  const here = thisProcess()
  const find = connection.prepare<LeaseRow>(
    `SELECT token, expires_at, pid, host FROM leases WHERE ${keyMatches}`,
  )
  const insert = connection.prepare<LeaseRow>(
    `INSERT INTO leases (app, user, agent, thread, owner, expires_at, pid, host)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING token`,
  )
  const isLease = `token = ? AND owner = ? AND ${keyMatches}`
  const check = connection.prepare<LeaseRow>(`SELECT token FROM leases WHERE ${isLease}`)
  const extend = connection.prepare<LeaseRow>(
    `UPDATE leases SET expires_at = ? WHERE ${isLease} RETURNING token`,
  )
  const remove = connection.prepare(`DELETE FROM leases WHERE ${isLease}`)
  const clear = connection.prepare(`DELETE FROM leases WHERE ${keyMatches}`)

  const isTaken = (row: LeaseRow | undefined): boolean =>
    row !== undefined &&
    Number(row.expires_at) > clock.now() &&
    !hasEnded({ host: row.host, pid: Number(row.pid) }, here)

  const isCurrent = (lease: Lease): boolean => check.get(...leaseParams(lease)) !== undefined
  const drop = (lease: Lease): void => {
    remove.run(...leaseParams(lease))
  }

  return {
    drop,
    assertCurrent(lease) {
      if (isCurrent(lease)) return
      const message = `The thread ${lease.key.thread} is no longer held by ${lease.owner}.`
      throw new MillraceError('LEASE_LOST', message, { details: { ...lease } })
    },
    acquire: (key, { owner, ttlMs }) =>
      connection.write(() => {
        const params = keyParams(key)
        const row = find.get(...params)
        if (isTaken(row)) return undefined
        if (row !== undefined) clear.run(...params)
        const made = insert.get(...params, toSqlText(owner), clock.now() + ttlMs, here.pid, here.host)
        return { key, owner, token: Number(made?.token) }
      }),
    renew: (lease, ttlMs) =>
      connection.write(() => extend.get(clock.now() + ttlMs, ...leaseParams(lease)) !== undefined),
    async release(lease) {
      // A commit has released most of them, and a read costs far less than a write.
      if (await connection.read(() => isCurrent(lease))) await connection.write(() => drop(lease))
    },
    isHeld: (key) => connection.read(() => isTaken(find.get(...keyParams(key)))),
  }
}

function leaseParams({ key, owner, token }: Lease): [number, string, string, string, string, string] {
  return [token, toSqlText(owner), ...keyParams(key)]
}

/** The process that holds a lease. */
interface Holder {
  readonly pid: number
  readonly host: string
}

function thisProcess(): Holder {
  return { pid: process.pid, host: `${hostname()} ${pidNamespace()}` }
}

/** Whether a holder is known to have ended. A holder on another host may be alive. */
function hasEnded(holder: Holder, here: Holder): boolean {
  if (holder.host !== here.host) return false
  try {
    process.kill(holder.pid, 0)
    return false
  } catch (error) {
    // EPERM: the process belongs to another user, and is alive.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** Containers may share a host name and a volume, but not process ids. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
