import { MillraceError } from '../../src/core/errors.js'
import type { Lease, Store } from '../../src/threads/contract.js'

/** Names of operations: `threads.load`, `log.append`, `leases.acquire`, `check`. */
export type StoreOperation =
  | `threads.${keyof Store['threads']}`
  | `log.${keyof Store['log']}`
  | `leases.${keyof Store['leases']}`
  | 'check'

/** A store that fails where a test wants it to. */
export interface FailingStore {
  readonly store: Store
  /** What was called, also what failed. */
  readonly calls: readonly StoreOperation[]
  /** The leases that were given out. */
  readonly leases: readonly Lease[]
  /** From now on this operation fails, so many times. Default: until `repair`. */
  readonly fail: (operation: StoreOperation, error: Error, times?: number) => void
  readonly repair: () => void
}

export const storeSecret = 'postgres://admin:hunter2@db.internal'

/** As a store fails that keeps its contract. */
export function storeError(): MillraceError {
  return new MillraceError('STORE_ERROR', `cannot reach ${storeSecret}`)
}

/** As one fails that does not. */
export function plainError(): Error {
  return new Error(`cannot reach ${storeSecret}`)
}

export function failingStore(inner: Store): FailingStore {
  const failures = new Map<StoreOperation, { readonly error: Error; left: number }>()
  const calls: StoreOperation[] = []
  const leases: Lease[] = []
  const before = (operation: StoreOperation): void => {
    calls.push(operation)
    const failure = failures.get(operation)
    if (failure && failure.left-- > 0) throw failure.error
  }
  const noted: Store['leases'] = {
    ...inner.leases,
    async acquire(key, terms) {
      const lease = await inner.leases.acquire(key, terms)
      if (lease) leases.push(lease)
      return lease
    },
  }
  return {
    store: {
      threads: guarded(inner.threads, (name) => before(`threads.${name}`)),
      log: guarded(inner.log, (name) => before(`log.${name}`)),
      leases: guarded(noted, (name) => before(`leases.${name}`)),
      async check() {
        before('check')
        await inner.check()
      },
      close: () => inner.close(),
    },
    calls,
    leases,
    fail: (operation, error, times = Infinity) => void failures.set(operation, { error, left: times }),
    repair: () => failures.clear(),
  }
}

/** The same methods, each with a word before it that may make it reject. */
function guarded<T extends object>(methods: T, before: (name: keyof T & string) => void): T {
  return new Proxy(methods, {
    get(target, name, receiver) {
      const method: unknown = Reflect.get(target, name, receiver)
      if (typeof method !== 'function') return method
      return async (...args: unknown[]): Promise<unknown> => {
        before(name as keyof T & string)
        return (await Reflect.apply(method, target, args)) as unknown
      }
    },
  })
}
