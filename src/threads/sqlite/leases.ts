import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Leases } from '../contract.js'
import type { Connection, SqlInteger } from './connection.js'
import { keyMatches, keyParams, toSqlText } from './sql-text.js'
import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'

export interface SqliteLeases extends Leases {
  /** Throws LEASE_LOST unless nobody has taken the thread since. Call it inside of the transaction that writes. */
  assertHeld(lease: Lease): void
  /** What `release` does. Call it inside of a transaction. */
  drop(lease: Lease): void
}

interface LeaseRow {
  readonly token: SqlInteger
  readonly expires_at: SqlInteger
  readonly pid: SqlInteger
  readonly host: string
}

/** A lease is a row: who lets go deletes it, who takes over puts another in its place. */
export function createLeases(connection: Connection, clock: Clock): SqliteLeases {
  const here = thisProcess()
  const find = connection.prepare<LeaseRow>(
    `SELECT token, expires_at, pid, host FROM leases WHERE ${keyMatches}`,
  )
  const insert = connection.prepare<LeaseRow>(
    `INSERT INTO leases (app, user, agent, thread, owner, expires_at, pid, host)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?) RETURNING token`,
  )
  const mine = `token = ? AND owner = ? AND ${keyMatches}`
  const check = connection.prepare<LeaseRow>(`SELECT token FROM leases WHERE ${mine}`)
  const extend = connection.prepare<LeaseRow>(
    `UPDATE leases SET expires_at = ? WHERE ${mine} RETURNING token`,
  )
  const remove = connection.prepare(`DELETE FROM leases WHERE ${mine}`)
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
    assertHeld(lease) {
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
      // Most were released with a commit, and a look costs far less than a write.
      if (await connection.read(() => isCurrent(lease))) await connection.write(() => drop(lease))
    },
    isHeld: (key) => connection.read(() => isTaken(find.get(...keyParams(key)))),
  }
}

function leaseParams({ key, owner, token }: Lease): [number, string, string, string, string, string] {
  return [token, toSqlText(owner), ...keyParams(key)]
}

/** The process that holds a lease. */
export interface Holder {
  readonly pid: number
  readonly host: string
}

/** This process. */
export function thisProcess(): Holder {
  return { pid: process.pid, host: `${hostname()} ${pidNamespace()}` }
}

/** Whether a holder is known to have ended. One on another host may always be alive. */
export function hasEnded(holder: Holder, here: Holder): boolean {
  if (holder.host !== here.host) return false
  try {
    process.kill(holder.pid, 0)
    return false
  } catch (error) {
    // EPERM comes from a process of another user, which is alive.
    return error instanceof Error && 'code' in error && error.code === 'ESRCH'
  }
}

/** Containers may share a host name and a volume, but their process ids do not mean the same. */
function pidNamespace(): string {
  try {
    return readlinkSync('/proc/self/ns/pid')
  } catch {
    return ''
  }
}
