/** Readers that wait for something with a name. */
export interface Waiters {
  /** Resolves when the name is woken, or when `signal` aborts. */
  wait(name: string, signal: AbortSignal): Promise<void>
  wake(name: string): void
  readonly wakeAll: () => void
}

/** Keeps only names with waiters. */
export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()

  const wake = (name: string): void => {
    for (const resolve of [...(waiting.get(name) ?? [])]) resolve()
  }
  const remove = (name: string, resolve: () => void): void => {
    const others = waiting.get(name)
    others?.delete(resolve)
    if (others?.size === 0) waiting.delete(name)
  }

  return {
    wait(name, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const stop = (): void => {
          remove(name, stop)
          signal.removeEventListener('abort', stop)
          resolve()
        }
        waiting.set(name, (waiting.get(name) ?? new Set<() => void>()).add(stop))
        signal.addEventListener('abort', stop)
      })
    },
    wake,
    wakeAll() {
      for (const name of [...waiting.keys()]) wake(name)
    },
  }
}
