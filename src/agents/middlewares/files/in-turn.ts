/** Does work of one key one after the other, in the order it came; work of different keys side by side. */
export type InTurn = <T>(key: string, work: () => Promise<T>) => Promise<T>

/** What fails does not keep the next one from its turn. */
export function createTurns(): InTurn {
  const last = new Map<string, Promise<unknown>>()
  return (key, work) => {
    const before = last.get(key) ?? Promise.resolve()
    const result = before.then(work, work)
    last.set(key, result)
    const forget = (): void => {
      if (last.get(key) === result) last.delete(key)
    }
    result.then(forget, forget)
    return result
  }
}
