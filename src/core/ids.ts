/**
 * Makes ids. Contract: never throws and never returns the same id twice. The prefix, if any, comes first and only helps
 * people who read logs; nothing may parse an id.
 */
export type IdSource = (prefix?: string) => string

/** Ids that cannot be guessed, unique across processes. The default of every `IdSource` option. */
export const randomIds: IdSource = (prefix) => {
  const id = crypto.randomUUID()
  return prefix === undefined ? id : `${prefix}-${id}`
}

/** Ids for tests: `run-1`, `run-2`, `message-1`, counted apart for each prefix; `id-1` without a prefix. */
export function sequentialIds(): IdSource {
  const counts = new Map<string, number>()
  return (prefix = 'id') => {
    const count = (counts.get(prefix) ?? 0) + 1
    counts.set(prefix, count)
    return `${prefix}-${count}`
  }
}

/** A short, stable name for a text: 64 bits of FNV-1a in hex. Not for secrets. */
export function stableHash(text: string): string {
  let hash = 0xcbf29ce484222325n
  for (let i = 0; i < text.length; i++) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(text.charCodeAt(i))) * 0x100000001b3n)
  }
  return hash.toString(16).padStart(16, '0')
}
