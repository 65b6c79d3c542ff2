import type { Message, ToolCall } from '@ag-ui/core'
import { isRejected, type AgUiEvent } from '../../protocol/index.js'
import { HiddenSpans } from '../history/call-record.js'
import type { Outcome, RunSink } from './run.js'

/**
 * Sends the events of a run to its sink as they are written. Holds back what the sink cannot take yet, and the terminal
 * event. Notes which texts and pending calls the outcome is made of.
 */
// A class: an accessor in an object literal would give every run an object shape of its own.
export class RunOutput {
  /** Set while the sink cannot take more. Wait for it before the run continues. */
  backPressure: Promise<void> | undefined
  readonly #sink: RunSink
  readonly #waiting: AgUiEvent[] = []
  readonly #hidden = new HiddenSpans()
  #terminal: AgUiEvent | undefined
  #textIds: Set<string> | undefined
  /** Texts of agents behind tool calls: they count when there is no other. */
  #hiddenTextIds: Set<string> | undefined

  constructor(sink: RunSink) {
    this.#sink = sink
  }

  // An arrow function: the run stream calls it for every event.
  readonly write = (event: AgUiEvent): void => {
    switch (event.type) {
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.#terminal = event
        return
      case 'SUBAGENT_STARTED':
        this.#hidden.add(event)
        break
      case 'TEXT_MESSAGE_START':
        if ((event.role ?? 'assistant') !== 'assistant') break
        if (this.#hidden.has(event.subagentRunId)) (this.#hiddenTextIds ??= new Set()).add(event.messageId)
        else (this.#textIds ??= new Set()).add(event.messageId)
        break
      default:
    }
    if (this.backPressure) {
      this.#waiting.push(event)
      return
    }
    const wait = this.#sink.send(event)
    if (wait) this.backPressure = this.#sendWaiting(wait)
  }

  /** Sends the rest and the terminal event. */
  async end(outcome: Outcome): Promise<void> {
    while (this.backPressure) await this.backPressure
    if (this.#terminal) await this.#sink.end(this.#terminal, outcome)
  }

  /** The last text that was not rejected, of the agent or of one it runs as part of the conversation. */
  lastText(messages: readonly Message[]): string {
    const ids = this.#textIds ?? this.#hiddenTextIds
    const last = messages.findLast((message) => ids?.has(message.id) === true && !isRejected(message))
    return last?.role === 'assistant' ? (last.content ?? '') : ''
  }

  /** The calls that this run leaves to the client, and those of `more`. */
  pendingCalls(messages: readonly Message[], more: readonly string[]): ToolCall[] {
    const event = this.#terminal
    const outcome = event?.type === 'RUN_FINISHED' ? event.outcome : undefined
    const ids = new Set([
      ...((outcome?.type === 'success' ? outcome.pendingToolCallIds : undefined) ?? []),
      ...more,
    ])
    if (ids.size === 0) return []
    const calls = messages.flatMap((message) =>
      message.role === 'assistant' ? (message.toolCalls ?? []) : [],
    )
    return calls.filter(({ id }) => ids.has(id))
  }

  async #sendWaiting(first: Promise<void>): Promise<void> {
    await first
    // More may be written while one of these is waited for.
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) await this.#sink.send(next)
    this.backPressure = undefined
  }
}
