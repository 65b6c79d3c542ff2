import { type Message, contentToText, type ToolCall } from '@ag-ui/core'
import { isRejected } from '../../protocol/index.js'
import { addressOf, markIn, markKey, markOfRun } from './message-metadata.js'
import type { HistoryEntry, HistoryRewriter } from '../contract.js'
import { isBehindCall, lanesOf, nameAt, pathFrom } from '../run/address.js'

/** Whose words an agent hears: those of the thread, or only what it was given and what is said below a place. */
export interface HistoryScope {
  readonly address: string
  readonly subagentRunId: string | undefined
  /** What was given in the place of the thread. */
  readonly given: readonly Message[] | undefined
}

/** Who looks at the conversation. */
export interface Viewer {
  readonly name: string
  readonly address: string
  readonly subagentRunId: string | undefined
  readonly scope: HistoryScope
  /** The run that this one goes on with; itself when it goes on with none. */
  readonly originRunId: string
}

/** The conversation as an agent reads it. */
export function readHistory(
  messages: readonly Message[],
  viewer: Viewer,
  rewrite: HistoryRewriter = rewriteHistory,
): readonly Message[] {
  const { subagentRunId, scope } = viewer
  const isPlain = subagentRunId === undefined && scope.given === undefined && rewrite === rewriteHistory
  // An agent that works alone, which is most of them: long conversations cost it no more than a copy.
  if (isPlain && messages.every((message) => isPlainMessage(message) && !isNote(message)))
    return messages.slice()
  return rewrite(viewOf(messages, viewer))
}

function isPlainMessage(message: Message): boolean {
  return message.subagentRunId === undefined && !isRejected(message)
}

/** Whether it says what became of an agent: such words are nobody's own. */
function isNote(message: Message): boolean {
  return message.role === 'developer' && markIn(message) !== undefined
}

/** The conversation as an agent hears it, in order; lanes that have joined one after the other. */
function viewOf(messages: readonly Message[], viewer: Viewer): HistoryEntry[] {
  const { scope } = viewer
  const marksNow = markOfRun(viewer.originRunId)
  const given = (scope.given ?? [])
    .filter(isPlainMessage)
    .map((message) => ({ message, agent: undefined, isOwn: false }))
  const heard = withCallers(messages).flatMap((message): Heard[] => {
    if (isRejected(message)) return []
    const mark = markIn(message)
    // What the owner of the scope says is not marked, when it answers a call.
    const isOwners = mark === undefined && message.subagentRunId === scope.subagentRunId
    const at = isOwners ? scope.address : mark === undefined ? undefined : addressOf(mark)
    const isForAll = message.subagentRunId === undefined
    const isNow = isOwners || mark?.startsWith(marksNow) === true
    // Those who were given something else do not see what stands in the thread for all to see.
    if (isForAll ? scope.given !== undefined : at === undefined || !isHeard(at, viewer, isNow)) return []
    return [{ entry: { message: withoutTag(message), ...authorOf(message, at, viewer) }, at: at ?? '' }]
  })
  return [...given, ...inLaneOrder(heard)]
}

/** What a client's tool gave belongs where the call was made. Clients do not say so themselves. */
function withCallers(messages: readonly Message[]): readonly Message[] {
  const callers = new Map<string, Message>()
  return messages.map((message) => {
    if (message.role === 'assistant' && message.subagentRunId !== undefined)
      for (const { id } of message.toolCalls ?? []) callers.set(id, message)
    if (message.role !== 'tool' || message.subagentRunId !== undefined) return message
    const caller = callers.get(message.toolCallId)
    if (caller?.subagentRunId === undefined) return message
    const { subagentRunId } = caller
    const mark = markIn(caller)
    const metadata = { ...message.metadata, ...(mark === undefined ? {} : { [markKey]: mark }) }
    return { ...message, subagentRunId, metadata }
  })
}

interface Heard {
  readonly entry: HistoryEntry
  /** Where it was said. */
  readonly at: string
}

function isHeard(at: string, { address, scope }: Viewer, isNow: boolean): boolean {
  if (!isNow) return scope.given === undefined && !isBehindCall(at.split('/'))
  const path = pathFrom(scope.address, at)
  if (path === undefined || isBehindCall(path)) return false
  const own = new Map(lanesOf(address).map(({ fork, lane }) => [fork, lane]))
  return lanesOf(at).every(({ fork, lane }) => (own.get(fork) ?? lane) === lane)
}

function authorOf(
  message: Message,
  at: string | undefined,
  viewer: Viewer,
): Pick<HistoryEntry, 'agent' | 'isOwn'> {
  const { role, subagentRunId } = message
  if (role === 'user' || role === 'system') return { agent: undefined, isOwn: false }
  // Notes on what became of an agent are marked as its own.
  if (role === 'developer') return { agent: at === undefined ? undefined : nameAt(at), isOwn: false }
  // What bears no mark was said by the one the conversation belongs to.
  const agent = nameAt(at ?? rootOf(viewer))
  return { agent, isOwn: subagentRunId === viewer.subagentRunId || agent === viewer.name }
}

function rootOf({ address }: Viewer): string {
  const end = address.indexOf('/')
  return end === -1 ? address : address.slice(0, end)
}

function withoutTag(message: Message): Message {
  if (message.subagentRunId === undefined) return message
  const { subagentRunId: _tag, ...rest } = message
  return rest
}

/** Lanes spoke at once; who reads it later reads them one after the other, always in the same order. */
function inLaneOrder(heard: readonly Heard[]): HistoryEntry[] {
  if (!heard.some(({ at }) => lanesOf(at).length > 0)) return heard.map(({ entry }) => entry)
  const firstAt = new Map<string, number>()
  const keyed = heard.map(({ entry, at }, position) => {
    // A run begins: its lanes are others, though they may have the same address.
    if (entry.message.role === 'user') firstAt.clear()
    const key = lanesOf(at).flatMap(({ fork, lane }) => {
      const first = firstAt.get(fork) ?? position
      firstAt.set(fork, first)
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

/** The tool by which models hand over to another agent. */
export const transferToolName = 'transfer_to_agent'

/**
 * Own words stay. What other agents said and did becomes context, in the words of a user, under the same ids; what they
 * thought is left out, and so are their transfers.
 */
export const rewriteHistory: HistoryRewriter = (entries) => {
  const calls = new Map<string, ToolCall>()
  return entries.flatMap(({ message, agent, isOwn }) => {
    if (isOwn || agent === undefined) return [message]
    if (message.role === 'assistant') for (const call of message.toolCalls ?? []) calls.set(call.id, call)
    const told = tell(message, agent, calls)
    return told === '' ? [] : [{ id: message.id, role: 'user', content: `For context: ${told}` }]
  })
}

function tell(message: Message, agent: string, calls: ReadonlyMap<string, ToolCall>): string {
  if (message.role === 'assistant') {
    const said =
      message.content === undefined || message.content === '' ? [] : [`[${agent}] said: ${message.content}`]
    const called = (message.toolCalls ?? [])
      .filter(({ function: { name } }) => name !== transferToolName)
      .map(
        ({ function: { name, arguments: args } }) =>
          `[${agent}] called tool \`${name}\` with arguments: ${args}`,
      )
    return [...said, ...called].join('\n')
  }
  if (message.role === 'developer') return `[${agent}] ${message.content}`
  if (message.role !== 'tool') return ''
  const name = calls.get(message.toolCallId)?.function.name ?? 'unknown'
  if (name === transferToolName) return ''
  return `[${agent}] tool \`${name}\` returned: ${contentToText(message.content)}`
}
