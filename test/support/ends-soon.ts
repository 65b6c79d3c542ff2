import { runInNewContext } from 'node:vm'

/** Runs work that must not hang, and stops it when it does: then this throws. Linear work on a megabyte takes milliseconds. */
export function endsSoon<T>(work: () => T): T {
  return runInNewContext('work()', { work }, { timeout: 10_000 }) as T
}
