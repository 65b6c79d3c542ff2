import { contentToText, type Message, type ToolCall } from '@ag-ui/core'
import { isRejected } from '../../protocol/index.js'
import type { HistoryEntry, HistoryRewriter } from '../contract.js'
import { isBehindCall, lanesOf, nameAt, pathFrom } from '../run/address.js'
import { addressIn, originKey, originMarkOf, originPrefix } from './message-origin.js'

/** What an agent may see: the thread, or only its own input messages and those written at an address and below. */
export interface HistoryScope {
  readonly address: string
  readonly subagentRunId: string | undefined
  /** Messages in place of the thread. */
  readonly messages: readonly Message[] | undefined
}

/** The agent that reads the conversation. */
export interface HistoryReader {
  readonly name: string
  readonly address: string
  readonly subagentRunId: string | undefined
  readonly scope: HistoryScope
  /** The run that this one resumes; itself when it resumes none. */
  readonly originRunId: string
}

/** The conversation as an agent reads it. */
export function readHistory(
  messages: readonly Message[],
  reader: HistoryReader,
  rewrite: HistoryRewriter = rewriteHistory,
): readonly Message[] {
  const { subagentRunId, scope } = reader
  const isAlone = subagentRunId === undefined && scope.messages === undefined && rewrite === rewriteHistory
  // Most agents work alone: a long conversation costs them no more than a copy.
  if (isAlone && messages.every((message) => isPlain(message) && !isFailureNote(message)))
    return messages.slice()
  return rewrite(visibleTo(reader, messages))
}

/** The tool by which models transfer to another agent. */
export const transferToolName = 'transfer_to_agent'

/**
 * Keeps an agent's own messages. Messages and calls of other agents become context, in user messages with the same ids;
 * their reasoning and their transfers are left out.
 */
export const rewriteHistory: HistoryRewriter = (entries) => {
  const calls = new Map<string, ToolCall>()
  return entries.flatMap(({ message, agent, isOwn }) => {
    if (isOwn || agent === undefined) return [message]
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call)
    const context = toContext(message, agent, calls)
    return context === '' ? [] : [{ id: message.id, role: 'user', content: `For context: ${context}` }]
  })
}

function toContext(message: Message, agent: string, calls: ReadonlyMap<string, ToolCall>): string {
  if (message.role === 'assistant') {
    const text =
      message.content === undefined || message.content === '' ? [] : [`[${agent}] said: ${message.content}`]
    const called = (message.toolCalls ?? [])
      .filter(({ function: { name } }) => name !== transferToolName)
      .map(
        ({ function: { name, arguments: args } }) =>
          `[${agent}] called tool \`${name}\` with arguments: ${args}`,
      )
    return [...text, ...called].join('\n')
  }
  if (message.role === 'developer') return `[${agent}] ${message.content}`
  if (message.role !== 'tool') return ''
  const name = calls.get(message.toolCallId)?.function.name ?? 'unknown'
  if (name === transferToolName) return ''
  return `[${agent}] tool \`${name}\` returned: ${contentToText(message.content)}`
}

function isPlain(message: Message): boolean {
  return message.subagentRunId === undefined && !isRejected(message)
}

/** A failure note is no agent's own message. */
function isFailureNote(message: Message): boolean {
  return message.role === 'developer' && originMarkOf(message) !== undefined
}

interface LocatedEntry {
  readonly entry: HistoryEntry
  /** The address of its author. */
  readonly address: string
}

/** The messages an agent may see, with their authors, in order; parallel lanes that have ended one after the other. */
function visibleTo(reader: HistoryReader, messages: readonly Message[]): HistoryEntry[] {
  const { scope } = reader
  const prefix = originPrefix(reader.originRunId)
  const given = (scope.messages ?? [])
    .filter(isPlain)
    .map((message) => ({ message, agent: undefined, isOwn: false }))
  const visible = attributeClientResults(messages).flatMap((message): LocatedEntry[] => {
    if (isRejected(message)) return []
    const mark = originMarkOf(message)
    // Messages of the scope's own agent have no mark when it answers a tool call.
    const isOfScope = mark === undefined && message.subagentRunId === scope.subagentRunId
    const address = isOfScope ? scope.address : mark === undefined ? undefined : addressIn(mark)
    const isOfThread = message.subagentRunId === undefined
    const isOfThisRun = isOfScope || mark?.startsWith(prefix) === true
    // An agent with input messages of its own does not see those of the thread.
    if (
      isOfThread
        ? scope.messages !== undefined
        : address === undefined || !canSee(reader, address, isOfThisRun)
    )
      return []
    const entry = { message: withoutSpan(message), ...authorOf(message, address, reader) }
    return [{ entry, address: address ?? '' }]
  })
  return [...given, ...inLaneOrder(visible)]
}

/** Attributes the result of a client tool to the agent that made the call. Clients do not say so themselves. */
function attributeClientResults(messages: readonly Message[]): readonly Message[] {
  const callers = new Map<string, Message>()
  return messages.map((message) => {
    if (message.role === 'assistant' && message.subagentRunId !== undefined)
      for (const { id } of message.toolCalls ?? []) callers.set(id, message)
    if (message.role !== 'tool' || message.subagentRunId !== undefined) return message
    const caller = callers.get(message.toolCallId)
    if (caller?.subagentRunId === undefined) return message
    const { subagentRunId } = caller
    const mark = originMarkOf(caller)
    const metadata = { ...message.metadata, ...(mark === undefined ? {} : { [originKey]: mark }) }
    return { ...message, subagentRunId, metadata }
  })
}

function canSee({ address, scope }: HistoryReader, writtenAt: string, isOfThisRun: boolean): boolean {
  if (!isOfThisRun) return scope.messages === undefined && !isBehindCall(writtenAt.split('/'))
  const path = pathFrom(scope.address, writtenAt)
  if (path === undefined || isBehindCall(path)) return false
  const own = new Map(lanesOf(address).map(({ fork, lane }) => [fork, lane]))
  return lanesOf(writtenAt).every(({ fork, lane }) => (own.get(fork) ?? lane) === lane)
}

function authorOf(
  { role, subagentRunId }: Message,
  address: string | undefined,
  reader: HistoryReader,
): Pick<HistoryEntry, 'agent' | 'isOwn'> {
  if (role === 'user' || role === 'system') return { agent: undefined, isOwn: false }
  // A failure note bears the mark of the agent that failed.
  if (role === 'developer')
    return { agent: address === undefined ? undefined : nameAt(address), isOwn: false }
  // The root of the run wrote what has no mark.
  const agent = nameAt(address ?? rootOf(reader.address))
  return { agent, isOwn: subagentRunId === reader.subagentRunId || agent === reader.name }
}

function rootOf(address: string): string {
  const end = address.indexOf('/')
  return end === -1 ? address : address.slice(0, end)
}

function withoutSpan(message: Message): Message {
  if (message.subagentRunId === undefined) return message
  const { subagentRunId: _span, ...rest } = message
  return rest
}

/** Puts parallel lanes one after the other, always in the same order. */
function inLaneOrder(entries: readonly LocatedEntry[]): HistoryEntry[] {
  if (!entries.some(({ address }) => lanesOf(address).length > 0)) return entries.map(({ entry }) => entry)
  const firstOfFork = new Map<string, number>()
  const keyed = entries.map(({ entry, address }, position) => {
    // A new run begins: its lanes are new, even with the same address.
    if (entry.message.role === 'user') firstOfFork.clear()
    const key = lanesOf(address).flatMap(({ fork, lane }) => {
      const first = firstOfFork.get(fork) ?? position
      firstOfFork.set(fork, first)
      return [first, laneNumber(lane)]
    })
    return { entry, key: [...key, position] }
  })
  return keyed.sort((one, other) => compareKeys(one.key, other.key)).map(({ entry }) => entry)
}

function laneNumber(lane: string): number {
  const number = Number.parseInt(lane.slice(lane.indexOf(':') + 1), 10)
  return Number.isNaN(number) ? 0 : number
}

function compareKeys(one: readonly number[], other: readonly number[]): number {
  for (const [index, part] of one.entries()) {
    const difference = part - (other[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
