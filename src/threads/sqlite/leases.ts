import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, Leases } from '../store.js'
import type { Connection, SqlInteger } from './connection.js'
import { hasEnded, thisProcess } from './holder.js'
import { keyMatches, keyParams, toText } from './text.js'

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
        const made = insert.get(...params, toText(owner), clock.now() + ttlMs, here.pid, here.host)
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
  return [token, toText(owner), ...keyParams(key)]
}
