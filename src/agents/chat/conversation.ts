import type { Message, ToolMessage } from '@ag-ui/core'
import { isCutOff } from '../../protocol/index.js'
import { repairMessages } from '../middlewares/repair-tool-calls.js'

/**
 * What the model is shown: the conversation it was given and what this run adds. Cleaned once when the run starts, then
 * only added to, so that a turn costs the same in a long conversation as in a short one.
 */
export interface Conversation {
  /** As it is now: what is added later is not in it. Copied when it is read, so that a long one costs no more. */
  view(): () => readonly Message[]
  add(messages: readonly Message[]): void
  resultOf(toolCallId: string): ToolMessage | undefined
}

/** A conversation that was left while tools were at work. */
export interface LeftConversation {
  /** What the agent had added to it, whether or not it is in the history. */
  readonly added: readonly Message[]
  /** Calls that may have no result yet. They are not dangling: their results go right behind the answer that made them. */
  readonly openCalls: ReadonlySet<string>
}

export function createConversation(history: readonly Message[], left?: LeftConversation): Conversation {
  const results = new Map<string, ToolMessage>()
  const messages: Message[] = []
  /** Where the next result of an open call goes. */
  let gap: number | undefined

  const isOpenResult = (message: Message): boolean =>
    message.role === 'tool' && left?.openCalls.has(message.toolCallId) === true

  const add = (more: readonly Message[]): void => {
    for (const message of more) {
      if (message.role === 'tool') results.set(message.toolCallId, message)
      if (gap !== undefined && isOpenResult(message)) messages.splice(gap++, 0, message)
      else messages.push(message)
    }
  }

  // What was cut off is said again by those who go on from there.
  const given = left
    ? joined(
        history.filter((message) => !isCutOff(message)),
        left.added,
      )
    : history
  const isHolder = (message: Message): boolean => holdsCall(message, left?.openCalls)
  const first = left ? given.findIndex(isHolder) : -1
  if (first === -1) add(repairMessages(given))
  else {
    const rest = given.filter((message, position) => position >= first && !isOpenResult(message))
    const answer = rest.slice(0, rest.findLastIndex(isHolder) + 1)
    add(repairMessages(given.slice(0, first)))
    add(answer)
    gap = messages.length
    add(given.filter(isOpenResult))
    add(repairMessages(rest.slice(answer.length)))
  }
  return {
    view() {
      const { length } = messages
      // Results that go into the gap move what is behind it, so this one cannot wait.
      let copy = gap === undefined ? undefined : messages.slice()
      return () => (copy ??= messages.slice(0, length))
    },
    add,
    resultOf: (id) => results.get(id),
  }
}

function joined(history: readonly Message[], added: readonly Message[]): readonly Message[] {
  const ids = new Set(history.map(({ id }) => id))
  return [...history, ...added.filter(({ id }) => !ids.has(id))]
}

function holdsCall(message: Message, calls: ReadonlySet<string> | undefined): boolean {
  return message.role === 'assistant' && message.toolCalls?.some(({ id }) => calls?.has(id)) === true
}
