import type { Message } from '@ag-ui/core'

/** Knows how many of the first messages of a history have all results of their calls in order: nothing to repair there. */
export class PairedCalls {
  /** How many messages there are to be sure of. */
  paired = 0
  #total = 0
  #isBroken = false
  readonly #pending: Set<string>

  constructor(before?: PairedCalls) {
    this.#pending = new Set(before ? before.#pending : [])
    if (!before) return
    this.paired = before.paired
    this.#total = before.#total
    this.#isBroken = before.#isBroken
  }

  /** Adds a message at a position. */
  add(message: Message, at: number): void {
    this.#total++
    if (at < this.paired) this.paired = at
    if (at < this.#total - 1) this.#isBroken = true
    if (this.#isBroken) return
    const [next] = this.#pending
    if (message.role === 'tool') {
      this.#isBroken = next !== message.toolCallId
      this.#pending.delete(message.toolCallId)
    }
    if (message.role === 'user') this.#isBroken = this.#pending.size > 0
    else if (message.role === 'assistant') for (const { id } of message.toolCalls ?? []) this.#pending.add(id)
    if (!this.#isBroken && this.#pending.size === 0) this.paired = this.#total
  }
}

const pairedPrefixes = new WeakMap<readonly Message[], number>()

/** Notes how many of the first messages need no repair. */
export function notePaired(messages: readonly Message[], count: number): readonly Message[] {
  pairedPrefixes.set(messages, count)
  return messages
}

/** How many of the first messages need no repair, as far as is known. */
export function pairedPrefix(messages: readonly Message[]): number {
  return pairedPrefixes.get(messages) ?? 0
}
