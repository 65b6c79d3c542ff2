import { BaseMessage, type AIMessage, type ToolMessage } from '@langchain/core/messages'
import { isRecord } from '../../core/is-record.js'

/** What a node or a tool gives may hold messages at these depths: lists of commands with lists of messages. */
const MAX_DEPTH = 4

/**
 * The messages in what a node or a tool has given: an update, a Command, a list of these, a message by itself. With
 * `key`, those of an update under that key alone.
 */
export function messagesIn(output: unknown, key?: string): BaseMessage[] {
  const found: BaseMessage[] = []
  collect(output, { found, key }, 0)
  return found
}

interface Collecting {
  readonly found: BaseMessage[]
  readonly key: string | undefined
}

function collect(value: unknown, collecting: Collecting, depth: number): void {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return
  if (BaseMessage.isInstance(value)) {
    collecting.found.push(value)
  } else if (Array.isArray(value)) {
    for (const entry of value) collect(entry, collecting, depth + 1)
  } else if (isCommand(value)) {
    collect(value.update, collecting, depth + 1)
  } else if (isWrapped(value)) {
    collect(value.output, collecting, depth + 1)
  } else if (isRecord(value)) {
    for (const [name, member] of Object.entries(value)) {
      const isWanted = collecting.key === undefined || name === collecting.key
      if (isWanted && Array.isArray(member)) collectList(member, collecting)
      else if (isWanted && BaseMessage.isInstance(member)) collecting.found.push(member)
    }
  }
}

/** Members of an update are searched one level deep: state may be large. */
function collectList(list: readonly unknown[], { found }: Collecting): void {
  for (const entry of list) if (BaseMessage.isInstance(entry)) found.push(entry)
}

export function isCommand(value: unknown): value is { update?: unknown } {
  return isRecord(value) && value.lg_name === 'Command'
}

/** Callbacks get what is no object inside one. */
function isWrapped(value: object): value is { output: unknown } {
  const keys = Object.keys(value)
  return keys.length === 1 && keys[0] === 'output'
}

export function isTool(message: BaseMessage): message is ToolMessage {
  return message.type === 'tool'
}

export function isAnswer(message: BaseMessage): message is AIMessage {
  return message.type === 'ai'
}

/** What a Command gives to the graph around is thrown up to it. Undefined for a real error. */
export function handOver(error: unknown): unknown {
  if (!(error instanceof Error) || error.name !== 'ParentCommand') return undefined
  return (error as { command?: unknown }).command ?? {}
}
