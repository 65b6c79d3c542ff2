import { readlinkSync } from 'node:fs'
import { hostname } from 'node:os'
import process from 'node:process'

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
