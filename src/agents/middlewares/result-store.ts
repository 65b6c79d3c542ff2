import { checkNumber } from '../check-number.js'

/** Where large tool results go. Keys cannot be guessed and hold no slashes; each is put once. */
export interface ResultStore {
  put(key: string, text: string): Promise<void>
  /** Gives `undefined` when there is nothing under this key, or nothing any more. */
  get(key: string): Promise<string | undefined>
}

export interface MemoryResultStoreOptions {
  /** How many characters it holds in all: 20,000,000 unless told, which is 40 MB at most. */
  readonly maxChars?: number
}

/** Keeps results in memory, until the process ends or the room does: the oldest go first, the newest always stays. */
export function memoryResultStore({ maxChars = 20_000_000 }: MemoryResultStoreOptions = {}): ResultStore {
  checkNumber('maxChars', maxChars)
  const texts = new Map<string, string>()
  let size = 0

  function drop(key: string): void {
    size -= texts.get(key)?.length ?? 0
    texts.delete(key)
  }

  return {
    put(key, text) {
      drop(key)
      // A map gives its keys in the order they came.
      for (const oldest of texts.keys()) {
        if (size + text.length <= maxChars) break
        drop(oldest)
      }
      texts.set(key, text)
      size += text.length
      return Promise.resolve()
    },
    get: (key) => Promise.resolve(texts.get(key)),
  }
}
