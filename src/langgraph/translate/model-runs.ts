import type { TokenUsage } from '@ag-ui/core'
import type { UsageMetadata } from '@langchain/core/messages'
import type { GraphEvent } from '../graph-event.js'
import { Answer } from './answer.js'
import type { Places } from './places.js'
import type { EventSink } from '../../agents/index.js'
import type { StateMessages } from './state-messages.js'
import type { TakenBack } from './taken-back.js'
import type { ToolCalls } from './tool-calls.js'
import { noteUsage, toTokenUsage, type Bill } from './usage.js'

type EventOf<T extends GraphEvent['type']> = Extract<GraphEvent, { type: T }>

interface ModelRun {
  /** Undefined when it is not to be shown. */
  readonly answer: Answer | undefined
  readonly bill: Bill
}

export interface ModelRunsOptions {
  readonly sink: EventSink
  readonly places: Places
  readonly calls: ToolCalls
  readonly messages: StateMessages
  readonly takenBack: TakenBack
  readonly addUsage: (usage: TokenUsage) => void
  readonly report: (problem: string) => void
}

/** The models at work, each with its answer. */
export class ModelRuns {
  readonly #options: ModelRunsOptions
  readonly #runs = new Map<string, ModelRun>()
  /** Ids that clients know, by the final ids of messages that differ. */
  readonly #aliases = new Map<string, string>()

  constructor(options: ModelRunsOptions) {
    this.#options = options
  }

  toldAs(messageId: string): string {
    return this.#aliases.get(messageId) ?? messageId
  }

  start({ runId, parentRunId, provider, model, isHidden }: EventOf<'model-start'>): void {
    const { places, takenBack } = this.#options
    const { span } = places.enter(runId, parentRunId)
    takenBack.overcome(span)
    this.#add(runId, { isHidden, bill: { provider, model, usage: undefined } })
  }

  /** The path of every token. */
  piece({ runId, message }: EventOf<'model-chunk'>): void {
    const { answer, bill } = this.#runs.get(runId) ?? this.#add(runId, unannounced())
    answer?.take(message)
    const usage = message.usage_metadata as UsageMetadata | undefined
    if (usage !== undefined) noteUsage(bill, usage)
  }

  end({ runId, message }: EventOf<'model-end'>): void {
    const { answer, bill } = this.#runs.get(runId) ?? this.#add(runId, unannounced())
    if (answer) {
      answer.complete(message)
      this.#noteIds(answer.messageId, message?.id)
    }
    const usage = toTokenUsage(bill, message)
    if (usage) this.#options.addUsage(usage)
    this.#forget(runId)
  }

  error({ runId, error, isInterrupt }: EventOf<'model-error'>): void {
    const run = this.#runs.get(runId)
    if (!run) return
    const draft = run.answer?.giveUp()
    // What is cut off by those who asked for it is no failure of the model.
    if (draft && !isInterrupt && !isAbort(error)) this.#options.takenBack.note(draft)
    this.#settle(run)
    this.#forget(runId)
  }

  finish(): void {
    for (const [runId, run] of this.#runs) {
      run.answer?.giveUp()
      this.#settle(run)
      this.#forget(runId)
    }
  }

  #add(runId: string, { isHidden, bill }: { isHidden: boolean; bill: Bill }): ModelRun {
    const { sink, places, calls, report } = this.#options
    const { span } = places.of(runId)
    const answer = isHidden
      ? undefined
      : new Answer({ sink, calls, report, span, fallbackId: `run-${runId}` })
    const run = { answer, bill }
    this.#runs.set(runId, run)
    return run
  }

  #noteIds(told: string | undefined, final: string | undefined): void {
    const { messages } = this.#options
    messages.note(told)
    messages.note(final)
    if (told !== undefined && final !== undefined && told !== final) this.#aliases.set(final, told)
  }

  #settle({ bill }: ModelRun): void {
    const usage = toTokenUsage(bill, undefined)
    if (usage) this.#options.addUsage(usage)
  }

  #forget(runId: string): void {
    this.#runs.delete(runId)
    this.#options.places.leave(runId)
  }
}

function unannounced(): { isHidden: boolean; bill: Bill } {
  return { isHidden: false, bill: { provider: undefined, model: undefined, usage: undefined } }
}

function isAbort(error: unknown): boolean {
  return error instanceof Error && /abort/i.test(error.name)
}
