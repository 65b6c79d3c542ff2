import type { Message } from '@ag-ui/core'
import type { SettledMessages } from '../../protocol/index.js'
import type { HistoryEntry, HistoryRewriter } from '../contract.js'
import { lanesOf } from '../run/address.js'
import {
  AgentHistory,
  type HistoryReader,
  type HistoryScope,
  type ToItem,
  isPlain,
  notePaired,
} from './agent-history.js'
import { originMarkOf } from './message-origin.js'
import { createEntryRewriter, rewriteHistory } from './rewrite-history.js'

/** The conversation of a run as each of its agents reads it. */
export class Histories {
  readonly #settle: () => SettledMessages
  readonly #rewritten = new HistoryTable<Message>(createEntryRewriter)
  readonly #entries = new HistoryTable<HistoryEntry>(() => (entry) => entry)

  constructor(settle: () => SettledMessages) {
    this.#settle = settle
  }

  read(reader: HistoryReader, rewrite: HistoryRewriter = rewriteHistory): readonly Message[] {
    const settled = this.#settle()
    if (rewrite !== rewriteHistory) return rewrite(this.#entries.read(reader, settled).items.slice())
    // Most agents work alone: a long conversation costs them no more than a copy.
    if (!this.#rewritten.has(reader) && isAlone(reader, settled)) return settled.messages.slice()
    const { items, calls } = this.#rewritten.read(reader, settled)
    return notePaired(items.slice(), calls.paired)
  }
}

function isAlone({ subagentRunId, scope }: HistoryReader, { messages }: SettledMessages): boolean {
  if (subagentRunId !== undefined || scope.messages !== undefined) return false
  return messages.every((message) => isPlain(message) && !isFailureNote(message))
}

/** A failure note is no agent's own message. */
function isFailureNote(message: Message): boolean {
  return message.role === 'developer' && originMarkOf(message) !== undefined
}

/** One history for all turns of an agent. */
class HistoryTable<Item> {
  readonly #createToItem: () => ToItem<Item>
  #histories = new WeakMap<HistoryScope, Map<string, AgentHistory<Item>>>()
  #edition = 0

  constructor(createToItem: () => ToItem<Item>) {
    this.#createToItem = createToItem
  }

  has(reader: HistoryReader): boolean {
    return this.#histories.get(reader.scope)?.has(keyOf(reader)) === true
  }

  read(reader: HistoryReader, { messages, edition }: SettledMessages): AgentHistory<Item> {
    // What was read has changed: read all of it again.
    if (edition !== this.#edition) this.#histories = new WeakMap()
    this.#edition = edition
    const history = this.#historyOf(reader)
    const lanes = lanesOf(reader.address)
    return lanes.length === 0 ? history.read(messages) : history.readInLanes(messages, lanes)
  }

  #historyOf(reader: HistoryReader): AgentHistory<Item> {
    const histories = this.#histories.get(reader.scope) ?? new Map<string, AgentHistory<Item>>()
    this.#histories.set(reader.scope, histories)
    const key = keyOf(reader)
    const history = histories.get(key) ?? new AgentHistory(reader, this.#createToItem())
    histories.set(key, history)
    return history
  }
}

/** Its own messages are those of its name, except in a span that it shares. */
function keyOf({ name, subagentRunId, isSelf, address }: HistoryReader): string {
  const span = isSelf || subagentRunId === undefined ? subagentRunId : 'any'
  return `${lanesOf(address).length > 0 ? 'lane' : ''}\n${span ?? ''}\n${name}`
}
