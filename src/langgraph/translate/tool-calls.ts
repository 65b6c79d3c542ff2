import type { Message, ToolMessage } from '@ag-ui/core'
import {
  ToolCallTracker,
  type NewToolCall,
  type ToolCallResult,
  type ToolCallTrackerOptions,
} from '../../bridge/tool-call-tracker.js'
import { RepeatedCalls, repeatedCallId } from '../messages/call-ids.js'
import { toolResultId } from '../messages/to-agui.js'
import type { GraphTranslatorOptions } from './graph-translator.js'

/**
 * The tool calls of one run. Calls of client tools are pending; results have the same ids as in the history. The graph may
 * use an id for several calls, which clients have under ids of their own.
 */
export class GraphToolCalls extends ToolCallTracker {
  readonly #isClientTool: (name: string) => boolean
  /** The results of this run, by call. */
  readonly #results = new Map<string, ToolMessage>()
  readonly #repeated: RepeatedCalls
  /** Calls of the thread that a user's message follows. */
  readonly #past: ReadonlySet<string>
  /** The calls that this run has written, as text. */
  readonly #written = new Map<string, string>()

  constructor(options: ToolCallTrackerOptions & Pick<GraphTranslatorOptions, 'isClientTool'>) {
    super(options)
    this.#isClientTool = options.isClientTool
    const { messages = [] } = options
    this.#repeated = new RepeatedCalls(messages)
    this.#past = callIdsBefore(
      messages,
      messages.findLastIndex(({ role }) => role === 'user'),
    )
  }

  /** The id that clients have for a call, by the graph's own id. Of several calls with that id, the newest is meant. */
  newestId(id: string): string {
    const known = this.knownAs(id)
    return this.#isWaiting(known) ? known : (this.#repeated.newestId(id) ?? known)
  }

  /** The id that clients have for a call in a message, by the graph's own id. */
  idIn(messageId: string | undefined, id: string): string {
    if (messageId === undefined) return this.newestId(id)
    return this.#repeated.idIn(messageId, id) ?? this.knownAs(id)
  }

  /**
   * The id for a call that a message has. It is the id of a known call if that one has no result yet: another message may
   * repeat its calls. Else it is a new one.
   */
  idFor({ id, name, messageId }: WholeCall, args: string): string {
    const known = this.newestId(id)
    if (!this.has(known)) return id
    const isSame = this.#written.get(known) === callText(name, args)
    return isSame || this.#isWaiting(known) ? known : repeatedCallId(id, messageId)
  }

  override start(call: Omit<NewToolCall, 'isPending'>): boolean {
    if (call.parentMessageId !== undefined) this.#repeated.add(call.id, call.parentMessageId)
    return super.start({ ...call, isPending: this.#isClientTool(call.name) })
  }

  /** Whether a call of this id can be written: there is none, or it waits for its result. */
  isFree(id: string): boolean {
    return !this.has(id) || this.#isWaiting(id)
  }

  /** Whether a call may still get its result. */
  #isWaiting(id: string): boolean {
    return this.isOpen(id) && !this.#past.has(id)
  }

  /** Notes the arguments of a call that is complete. */
  addWritten(id: string, name: string, args: string): void {
    this.#written.set(id, callText(name, args))
  }

  /** Writes the result of a call that clients have without one. Other results wait: their call may still come. */
  override result(result: Omit<ToolCallResult, 'messageId'>): boolean {
    const toolCallId = this.knownAs(result.toolCallId)
    const messageId = toolResultId(toolCallId)
    const isWritten = super.result({ ...result, messageId })
    const { content } = result
    if (isWritten) this.#results.set(toolCallId, { id: messageId, role: 'tool', toolCallId, content })
    return isWritten
  }

  /** The result of this run that clients have for a call. */
  shownResult(toolCallId: string): ToolMessage | undefined {
    return this.#results.get(this.knownAs(toolCallId))
  }
}

interface WholeCall {
  /** The graph's own id. */
  readonly id: string
  readonly name: string
  readonly messageId: string
}

function callIdsBefore(messages: readonly Message[], end: number): ReadonlySet<string> {
  const before = messages.slice(0, Math.max(0, end))
  const calls = before.flatMap((message) => (message.role === 'assistant' ? (message.toolCalls ?? []) : []))
  return new Set(calls.map(({ id }) => id))
}

function callText(name: string, args: string): string {
  return `${name} ${args}`
}
