/**
 * Makes ids. Contract: never throws and never gives the same id twice. The prefix, if any, comes first and only helps
 * people who read logs; nothing may parse an id.
 */
export type IdSource = (prefix?: string) => string

/** Ids nobody can guess, unique across processes. The default wherever an `IdSource` is asked for. */
export const randomIds: IdSource = (prefix) => {
  const id = crypto.randomUUID()
  return prefix === undefined ? id : `${prefix}-${id}`
}

/** Ids for tests: `run-1`, `run-2`, `message-1`, counted apart for each prefix; `id-1` where none is given. */
export function sequentialIds(): IdSource {
  const counts = new Map<string, number>()
  return (prefix = 'id') => {
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return `${prefix}-${count}`
  }
}
