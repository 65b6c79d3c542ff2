/** Questions to the person that calls of tools wait for, by the id of the call. */
export interface Consents {
  /** Asks. Resolves with what the person says, and with false when the signal aborts. */
  ask(toolCallId: string, signal: AbortSignal): Promise<boolean>
  answer(toolCallId: string, isAllowed: boolean): void
  readonly subscribe: (listener: () => void) => () => void
  /** The calls that wait. The same set until it changes. */
  readonly getSnapshot: () => ReadonlySet<string>
}

export function createConsents(): Consents {
  const waiting = new Map<string, (isAllowed: boolean) => void>()
  const listeners = new Set<() => void>()
  let ids: ReadonlySet<string> = new Set()
  const changed = (): void => {
    ids = new Set(waiting.keys())
    for (const listener of listeners) listener()
  }
  const answer = (toolCallId: string, isAllowed: boolean): void => {
    const resolve = waiting.get(toolCallId)
    if (!waiting.delete(toolCallId)) return
    changed()
    resolve?.(isAllowed)
  }
  return {
    ask: (toolCallId, signal) =>
      new Promise((resolve) => {
        waiting.set(toolCallId, resolve)
        signal.addEventListener('abort', () => answer(toolCallId, false), { once: true })
        changed()
      }),
    answer,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    getSnapshot: () => ids,
  }
}
