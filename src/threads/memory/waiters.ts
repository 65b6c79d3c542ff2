/** People who wait for something that has a name. */
export interface Waiters {
  /** Resolves when the name is woken, or when `signal` aborts, and leaves nothing behind then. */
  wait(name: string, signal: AbortSignal): Promise<void>
  wake(name: string): void
  readonly wakeAll: () => void
}

/** Makes a place to wait at. Nothing is kept of a name that nobody waits for. */
export function createWaiters(): Waiters {
  const waiting = new Map<string, Set<() => void>>()

  const wake = (name: string): void => {
    for (const resolve of [...(waiting.get(name) ?? [])]) resolve()
  }
  const leave = (name: string, resolve: () => void): void => {
    const others = waiting.get(name)
    others?.delete(resolve)
    if (others?.size === 0) waiting.delete(name)
  }

  return {
    wait(name, signal) {
      if (signal.aborted) return Promise.resolve()
      return new Promise((resolve) => {
        const go = (): void => {
          leave(name, go)
          signal.removeEventListener('abort', go)
          resolve()
        }
        const others = waiting.get(name)
        if (others === undefined) waiting.set(name, new Set([go]))
        else others.add(go)
        signal.addEventListener('abort', go)
      })
    },
    wake,
    wakeAll() {
      for (const name of [...waiting.keys()]) wake(name)
    },
  }
}
