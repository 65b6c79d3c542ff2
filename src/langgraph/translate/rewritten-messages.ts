import type { AssistantMessage, Message, ToolCall } from '@ag-ui/core'
import { ToolMessage, type BaseMessage } from '@langchain/core/messages'
import type { EventSink } from '../../bridge/event-sink.js'
import { isEqual, parseJson } from '../../core/json.js'
import { rewriteMessages } from '../../protocol/index.js'
import { callerIndex } from '../messages/call-ids.js'
import { toAgui } from '../messages/to-agui.js'
import { toLangChain } from '../messages/to-langchain.js'
import type { EmittedMessages } from './emitted-messages.js'
import type { GraphTranslatorOptions } from './graph-translator.js'
import type { GraphToolCalls } from './tool-calls.js'

export interface RewrittenMessagesOptions extends Pick<GraphTranslatorOptions, 'messages'> {
  readonly sink: EventSink
  readonly calls: GraphToolCalls
  readonly emitted: EmittedMessages
}

/** A message as clients have it. */
interface ShownMessage {
  readonly message: Message
  /** Of this run. */
  readonly reasoning: readonly Message[]
  readonly isOfThisRun: boolean
}

/** A returned message as the state has it. */
interface StoredVersion {
  readonly message: BaseMessage
  /** Of a result: the message that made its call. */
  readonly caller: string | undefined
}

interface MessageRef {
  readonly toolCallId: string | undefined
  readonly messageId: string | undefined
}

interface Change {
  readonly rewritten: readonly Message[]
  /** Ids of messages that are gone. */
  readonly gone: readonly string[]
}

/**
 * Finds the messages that clients have and the graph has rewritten since under the same id: redacted text, edited tool
 * calls, changed results; also drafts of this run that it has removed. The state of the root graph decides; for messages
 * it does not have, the state of the subgraph that wrote them.
 */
export class RewrittenMessages {
  readonly #options: RewrittenMessagesOptions
  readonly #shown = new Map<string, ShownMessage>()
  #thread: ReadonlyMap<string, Message> | undefined
  /** Messages in the outputs of nodes since the last state. */
  readonly #returned = new Map<string, BaseMessage>()

  constructor(options: RewrittenMessagesOptions) {
    this.#options = options
  }

  /** Notes a message as a model, or a node, has written it. */
  addShown(id: string, message: BaseMessage): void {
    const all = toAgui([message])
    const shown = all.at(-1)
    if (!shown) return
    const calls =
      shown.role === 'assistant' ? shown.toolCalls?.map((call) => this.#withKnownId(id, call)) : undefined
    const entry = {
      message: { ...shown, id, ...(calls && { toolCalls: calls }) } as Message,
      reasoning: all.slice(0, -1),
      isOfThisRun: true,
    }
    this.#shown.set(messageKey(id), entry)
    if (message.id !== undefined) this.#shown.set(messageKey(message.id), entry)
  }

  /** Notes a message in the output of a node. It may be an old one that was changed in place. */
  addReturned(message: BaseMessage): void {
    const key = keyOf(message)
    if (key !== undefined) this.#returned.set(key, message)
  }

  /** Compares what nodes have returned with what clients have, and writes the difference. */
  settle(state: readonly BaseMessage[]): void {
    if (this.#returned.size === 0) return
    const inState = this.#returnedIn(state)
    const rewritten: Message[] = []
    const gone: string[] = []
    for (const [graphKey, returned] of this.#returned) {
      const stored = inState.get(graphKey)
      const replaced = returned.id === undefined ? undefined : this.#options.emitted.addReturned(returned.id)
      if (replaced !== undefined) gone.push(replaced)
      const toolCallId = this.#callOf(returned, stored?.caller)
      const key = toolCallId === undefined ? graphKey : resultKey(toolCallId)
      const shown = this.#find(key, { toolCallId, messageId: returned.id })
      const version = stored?.message ?? (shown?.isOfThisRun ? returned : undefined)
      if (!shown || !version || isUntouched(shown, version)) continue
      const change = version.type === 'remove' ? this.#removal(key, shown) : this.#change(key, shown, version)
      rewritten.push(...change.rewritten)
      gone.push(...change.gone)
    }
    this.#returned.clear()
    if (rewritten.length > 0 || gone.length > 0) this.#options.sink.add(rewriteMessages(rewritten, gone))
  }

  /** The call of a result, as clients know it. */
  #callOf(returned: BaseMessage, caller: string | undefined): string | undefined {
    return ToolMessage.isInstance(returned)
      ? this.#options.calls.idIn(caller, returned.tool_call_id)
      : undefined
  }

  /** The returned messages as the state has them. Most are at its end. */
  #returnedIn(state: readonly BaseMessage[]): ReadonlyMap<string, StoredVersion> {
    const found = new Map<string, StoredVersion>()
    for (let at = state.length - 1; at >= 0 && found.size < this.#returned.size; at--) {
      const message = state[at]
      const key = message && keyOf(message)
      if (!message || key === undefined || !this.#returned.has(key) || found.has(key)) continue
      found.set(key, { message, caller: state[callerIndex(state, at)]?.id })
    }
    return found
  }

  #change(key: string, shown: ShownMessage, version: BaseMessage): Change {
    const all = toAgui([version])
    const now = all.at(-1)
    const next = now && this.#nextVersion(shown.message, now)
    const reasoning = new Map(all.slice(0, -1).map((one) => [one.id, one]))
    const changed = shown.reasoning.filter(({ id, content }) => reasoning.get(id)?.content !== content)
    const message = { ...shown.message, ...next } as Message
    if (next || changed.length > 0)
      this.#shown.set(key, { ...shown, message, reasoning: [...reasoning.values()] })
    return {
      rewritten: [...(next ? [next] : []), ...changed.flatMap(({ id }) => reasoning.get(id) ?? [])],
      gone: changed.map(({ id }) => id).filter((id) => !reasoning.has(id)),
    }
  }

  /** The message with its new content, and the calls that clients have of it. Undefined if nothing has changed. */
  #nextVersion(shown: Message, now: Message): Message | undefined {
    const { id } = shown
    if (shown.role === 'assistant' && now.role === 'assistant') {
      const toolCalls = this.#nextCalls(shown, now.toolCalls ?? [])
      const { content = '' } = now
      const isSameText = (shown.content ?? '') === content
      if (isSameText && toolCalls === undefined) return undefined
      const calls = toolCalls ?? shown.toolCalls
      return { id, role: 'assistant', ...(isSameText ? {} : { content }), ...(calls && { toolCalls: calls }) }
    }
    if (shown.role === 'tool' && now.role === 'tool') {
      const { content, error } = now
      if (isSameValue(shown.content, content)) return undefined
      const { toolCallId } = shown
      return { id, role: 'tool', toolCallId, content, ...(error === undefined ? {} : { error }) }
    }
    if (shown.role !== now.role || !('content' in now)) return undefined
    const before = toAgui(toLangChain([shown])).at(-1)
    return isEqual(before?.content, now.content) ? undefined : { ...now, id }
  }

  /** The calls with the ids that clients have. Undefined if nothing has changed. */
  #nextCalls(
    { id: messageId, toolCalls: shown = [] }: AssistantMessage,
    now: readonly ToolCall[],
  ): ToolCall[] | undefined {
    const next = now.map((made): ToolCall => {
      const call = this.#withKnownId(messageId, made)
      const old = shown.find(({ id }) => id === call.id)
      return old && isSameCall(old, call) ? old : call
    })
    return next.length === shown.length && next.every((call, index) => call === shown[index])
      ? undefined
      : next
  }

  #withKnownId(messageId: string, call: ToolCall): ToolCall {
    return { ...call, id: this.#options.calls.idIn(messageId, call.id) }
  }

  /** A draft that the graph has taken back. It may remove calls and old messages only to shorten its prompts. */
  #removal(key: string, { message, reasoning, isOfThisRun }: ShownMessage): Change {
    if (!isOfThisRun || message.role !== 'assistant' || message.toolCalls) return { rewritten: [], gone: [] }
    this.#shown.delete(key)
    return { rewritten: [], gone: [...reasoning, message].map(({ id }) => id) }
  }

  /** A message as clients have it: the result of a call, or the message with an id. */
  #find(key: string, { toolCallId, messageId = '' }: MessageRef): ShownMessage | undefined {
    const ofRun = this.#shown.get(key)
    if (ofRun) return ofRun
    const { calls, emitted } = this.#options
    const written = toolCallId === undefined ? emitted.shown(messageId) : calls.shownResult(toolCallId)
    if (written) return { message: written, reasoning: [], isOfThisRun: true }
    this.#thread ??= new Map(this.#options.messages.map((message) => [threadKey(message), message]))
    const message = this.#thread.get(key)
    return message && { message, reasoning: [], isOfThisRun: false }
  }
}

function messageKey(id: string): string {
  return `message ${id}`
}

/** The key of a result is its call: clients have other ids for results than the graph. */
function resultKey(toolCallId: string): string {
  return `call ${toolCallId}`
}

function keyOf(message: BaseMessage): string | undefined {
  if (ToolMessage.isInstance(message)) return resultKey(message.tool_call_id)
  return message.id === undefined ? undefined : messageKey(message.id)
}

function threadKey(message: Message): string {
  return message.role === 'tool' ? resultKey(message.toolCallId) : messageKey(message.id)
}

/** Most nodes that return old messages return them as they are. This tells without converting them. */
function isUntouched({ message, reasoning }: ShownMessage, { content, ...version }: BaseMessage): boolean {
  if (typeof content !== 'string' || message.content !== content || reasoning.length > 0) return false
  const hasCalls =
    'tool_calls' in version && Array.isArray(version.tool_calls) && version.tool_calls.length > 0
  return !hasCalls && !('toolCalls' in message)
}

function isSameCall(one: ToolCall, other: ToolCall): boolean {
  const { name, arguments: args } = one.function
  return name === other.function.name && isSameValue(args, other.function.arguments)
}

/** JSON in another notation is the same. */
function isSameValue(one: unknown, other: unknown): boolean {
  if (isEqual(one, other)) return true
  const [before, after] = [one, other].map((value) =>
    typeof value === 'string' ? parseJson(value) : undefined,
  )
  return before !== undefined && isEqual(before, after)
}
