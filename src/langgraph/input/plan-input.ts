import type { Message } from '@ag-ui/core'
import { RemoveMessage, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { REMOVE_ALL_MESSAGES } from '@langchain/langgraph'
import { isEqual } from '../../core/is-equal.js'
import { arrange, skipped, waitingCalls } from './arrange.js'
import { extrasOf } from './extras.js'
import { readMessages, toAgui } from './to-agui.js'
import { toLangChain } from './to-langchain.js'

/** What a run gives to the graph. */
export type InputPlan =
  /** What is new: for the reducer of messages, which replaces what has the same id and adds the rest. */
  | { readonly type: 'input'; readonly messages: readonly BaseMessage[] }
  /** The past was edited or cut: go back to before that message, and go on with these. */
  | { readonly type: 'fork'; readonly before: string; readonly messages: readonly BaseMessage[] }
  /** There is nothing new: go on where the graph has stopped. */
  | { readonly type: 'continue' }
  /** Some calls have their result, others do not: there is nothing to run before they have. */
  | { readonly type: 'wait'; readonly toolCallIds: readonly string[] }

export interface PlanOptions {
  /** The thread: what clients see. It has the last word on what was said. */
  readonly messages: readonly Message[]
  /** The messages in the checkpoint. Undefined when the graph has no memory of its own. */
  readonly stored: unknown
  /** Messages of the checkpoint that clients have never seen, by id: that the thread lacks them means nothing. */
  readonly isUnseen?: (id: string) => boolean
  /**
   * Messages of the thread that the graph was never given, by id, though it has later ones: others have said them while
   * it was at work. Default: none, so what it lacks it has removed.
   */
  readonly isUnheard?: (id: string) => boolean
  /** The tools of the client. A call of any other that has no result will never get one. Default: all are its. */
  readonly isClientTool?: (name: string) => boolean
}

/**
 * Decides what a run gives to the graph. With a checkpoint, that is what came after the last message that both know:
 * also what another process has added meanwhile. What the graph itself has removed before that (a summary of it, for
 * example) is not brought back. Results are known by their call, all else by its id.
 */
export function planInput({
  messages,
  stored,
  isUnseen = () => false,
  isUnheard = () => false,
  isClientTool = () => true,
}: PlanOptions): InputPlan {
  const thread = spokenOf(messages)
  if (stored === undefined) return { type: 'input', messages: arrange(thread.map(({ message }) => message)) }
  const kept = entriesOf(stored)
  const cut = firstLost(thread, kept, isUnseen)
  const lost = kept[cut]
  if (lost) return { type: 'fork', before: lost.id, messages: news(thread, kept.slice(0, cut), isUnheard) }
  const fresh = news(thread, kept, isUnheard)
  if (fresh.length === 0) return { type: 'continue' }
  return waiting(kept, fresh, isClientTool)
}

interface Entry {
  /** The id in the graph. */
  readonly id: string
  /** By what it is known on both sides. */
  readonly key: string
  readonly message: BaseMessage
  /** As clients see it, without its reasoning. */
  readonly shown: Message | undefined
}

/** What subagents said is shown in the thread, but is not the graph's to know. */
function spokenOf(messages: readonly Message[]): Entry[] {
  const own = messages.filter(({ subagentRunId }) => subagentRunId === undefined)
  return toLangChain(own).map((message) => entry(message.id ?? '', message))
}

function entriesOf(stored: unknown): Entry[] {
  return readMessages(stored).map(({ id, message }) => entry(id, message))
}

function entry(id: string, message: BaseMessage): Entry {
  const key = ToolMessage.isInstance(message) ? `call ${message.tool_call_id}` : `message ${id}`
  return { id, key, message, shown: toAgui([message]).at(-1) }
}

/**
 * The first message of the graph that the thread does not have any more, or has with other words. Past the last one that
 * both have, anything counts; before it only what people and models have said: a graph may have notes of its own there.
 */
function firstLost(
  thread: readonly Entry[],
  kept: readonly Entry[],
  isUnseen: (id: string) => boolean,
): number {
  const byKey = new Map(thread.map((one) => [one.key, one]))
  const lastShared = kept.findLastIndex(({ key }) => byKey.has(key))
  return kept.findIndex(({ id, key, shown }, index) => {
    const now = byKey.get(key)
    if (!now && isUnseen(id)) return false
    if (now) return shown?.role === 'user' && !isEqual(contentOf(now.shown), contentOf(asSent(shown)))
    if (shown?.role === 'user' || shown?.role === 'assistant') return true
    return shown?.role === 'tool' && index > lastShared
  })
}

/** As it would look if a client had sent it: there are several ways to say the same. */
function asSent(shown: Message): Message | undefined {
  return toAgui(toLangChain([shown])).at(-1)
}

function contentOf(shown: Message | undefined): unknown {
  return shown?.role === 'user' ? shown.content : undefined
}

function news(
  thread: readonly Entry[],
  kept: readonly Entry[],
  isUnheard: (id: string) => boolean,
): BaseMessage[] {
  const byKey = new Map(kept.map((one) => [one.key, one]))
  const lastShared = thread.findLastIndex(({ key }) => byKey.has(key))
  const changed = thread.flatMap((one) => replacement(one, byKey.get(one.key)))
  const open = new Set(openCalls(kept))
  const added = thread.filter(({ id, key, message }, index) => {
    if (byKey.has(key)) return false
    if (index > lastShared) return true
    return ToolMessage.isInstance(message) ? open.has(message.tool_call_id) : isUnheard(id)
  })
  if (added.length === 0) return changed
  const before = kept.map(({ message }) => message)
  const whole = arrange([...before, ...added.map(({ message }) => message)])
  const isInPlace = before.every((message, index) => message === whole[index])
  if (isInPlace) return [...changed, ...whole.slice(before.length)]
  // Reducers only add at the end.
  return [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...whole, ...changed]
}

function openCalls(kept: readonly Entry[]): string[] {
  const calls = kept.flatMap(({ shown }) => (shown?.role === 'assistant' ? (shown.toolCalls ?? []) : []))
  const answered = new Set(kept.map(({ key }) => key))
  return calls.map(({ id }) => id).filter((id) => !answered.has(`call ${id}`))
}

/** What takes the place of a stored message: other instructions, a result in the place of one that was made up. */
function replacement({ message, shown }: Entry, old: Entry | undefined): BaseMessage[] {
  if (!old) return []
  const isInstruction = shown?.role === 'system' || shown?.role === 'developer'
  if (isInstruction) return isEqual(shown.content, old.shown?.content) ? [] : [message]
  const isLate = extrasOf(old.message).isSynthetic === true && shown?.role === 'tool'
  if (!isLate || !ToolMessage.isInstance(message) || isEqual(shown.content, old.shown?.content)) return []
  return [new ToolMessage({ ...fieldsOf(message), id: old.id })]
}

function fieldsOf({
  content,
  tool_call_id,
  name,
  status,
  additional_kwargs,
  response_metadata,
}: ToolMessage) {
  return {
    content,
    tool_call_id,
    ...(name === undefined ? {} : { name }),
    ...(status === undefined ? {} : { status }),
    additional_kwargs,
    response_metadata,
  }
}

function waiting(
  kept: readonly Entry[],
  fresh: readonly BaseMessage[],
  isClientTool: (name: string) => boolean,
): InputPlan {
  if (!fresh.every((message) => ToolMessage.isInstance(message))) return { type: 'input', messages: fresh }
  const open = waitingCalls([...kept.map(({ message }) => message), ...fresh])
  const toolCallIds = open.filter(({ name }) => isClientTool(name)).map(({ id }) => id)
  if (toolCallIds.length > 0) return { type: 'wait', toolCallIds }
  return { type: 'input', messages: [...fresh, ...open.map(skipped)] }
}
