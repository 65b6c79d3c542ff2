import type { Message, ToolMessage } from '@ag-ui/core'
import { isCutOff } from '../../protocol/index.js'
import { repairMessages } from '../middlewares/repair-tool-calls.js'

/**
 * The messages for the model: the history and those of this run. Repaired once when the run starts, then only
 * added to, so that an iteration costs the same in a long conversation as in a short one.
 */
export interface Conversation {
  /** The messages as they are now. Copied when they are read, so that a long conversation costs no more. */
  view(): () => readonly Message[]
  add(messages: readonly Message[]): void
  resultOf(toolCallId: string): ToolMessage | undefined
}

/** A conversation that was saved while tools were running. */
export interface SavedConversation {
  /** Messages that the agent had added, whether or not they are in the history. */
  readonly added: readonly Message[]
  /** Calls that may have no result yet. Their results go right behind the answer that made them. */
  readonly openCalls: ReadonlySet<string>
}

export function createConversation(history: readonly Message[], saved?: SavedConversation): Conversation {
  const results = new Map<string, ToolMessage>()
  const messages: Message[] = []
  /** Where the next result of an open call goes. */
  let gap: number | undefined

  const isOpenResult = (message: Message): boolean =>
    message.role === 'tool' && saved?.openCalls.has(message.toolCallId) === true

  const add = (more: readonly Message[]): void => {
    for (const message of more) {
      if (message.role === 'tool') results.set(message.toolCallId, message)
      if (gap !== undefined && isOpenResult(message)) messages.splice(gap++, 0, message)
      else messages.push(message)
    }
  }

  // The resumed run writes cut-off messages again.
  const all = saved
    ? withAdded(
        history.filter((message) => !isCutOff(message)),
        saved.added,
      )
    : history
  const isCaller = (message: Message): boolean => hasAnyCall(message, saved?.openCalls)
  const first = saved ? all.findIndex(isCaller) : -1
  if (first === -1) add(repairMessages(all))
  else {
    const rest = all.filter((message, position) => position >= first && !isOpenResult(message))
    const answer = rest.slice(0, rest.findLastIndex(isCaller) + 1)
    add(repairMessages(all.slice(0, first)))
    add(answer)
    gap = messages.length
    add(all.filter(isOpenResult))
    add(repairMessages(rest.slice(answer.length)))
  }
  return {
    view() {
      const { length } = messages
      // Results in the gap move the messages behind it: copy at once.
      let copy = gap === undefined ? undefined : messages.slice()
      return () => (copy ??= messages.slice(0, length))
    },
    add,
    resultOf: (id) => results.get(id),
  }
}

function withAdded(history: readonly Message[], added: readonly Message[]): readonly Message[] {
  const ids = new Set(history.map(({ id }) => id))
  return [...history, ...added.filter(({ id }) => !ids.has(id))]
}

function hasAnyCall(message: Message, calls: ReadonlySet<string> | undefined): boolean {
  return message.role === 'assistant' && message.toolCalls?.some(({ id }) => calls?.has(id)) === true
}
