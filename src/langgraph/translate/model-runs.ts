import { tokenUsageFromLangChainMetadata, type TokenUsage } from '@ag-ui/core'
import { mergeUsageMetadata, type BaseMessage, type UsageMetadata } from '@langchain/core/messages'
import type { EventSink } from '../../bridge/event-sink.js'
import { rejectedCallContent, rejectedMark, rejectMessage } from '../../protocol/index.js'
import type { GraphEventOf } from '../contract.js'
import type { GraphTranslatorOptions } from './graph-translator.js'
import { ModelMessage, type BrokenMessage } from './model-message.js'
import type { GraphSpans } from './spans.js'
import type { RewrittenMessages } from './rewritten-messages.js'
import type { StateMessages } from './state-messages.js'
import type { GraphToolCalls } from './tool-calls.js'

export interface ModelRunsOptions extends Pick<GraphTranslatorOptions, 'addUsage' | 'newId' | 'report'> {
  readonly sink: EventSink
  readonly spans: GraphSpans
  readonly calls: GraphToolCalls
  readonly messages: StateMessages
  readonly rewritten: RewrittenMessages
}

/** One call of a model. */
interface ModelRun {
  /** Undefined if the model is hidden. */
  readonly message: ModelMessage | undefined
  readonly provider: string | undefined
  readonly model: string | undefined
  /** The sum of the chunks' usage. */
  usage: UsageMetadata | undefined
}

type ModelFacts = Pick<GraphEventOf<'model-start'>, 'isHidden' | 'provider' | 'model' | 'predictState'>

const unannounced: ModelFacts = { isHidden: false, provider: undefined, model: undefined }

/** Translates the calls of models: their messages, their usage and their failures. */
export class ModelRuns {
  readonly #options: ModelRunsOptions
  readonly #runs = new Map<string, ModelRun>()
  /** Messages of failed models, until it is known whether the graph continues. */
  #broken: BrokenMessage[] = []

  constructor(options: ModelRunsOptions) {
    this.#options = options
  }

  start(event: GraphEventOf<'model-start'>): void {
    const { subagentRunId } = this.#options.spans.enter(event.runId, event.parentRunId)
    this.rejectBroken(subagentRunId)
    this.#add(event.runId, event)
  }

  /** The path of every token. */
  chunk({ runId, message }: GraphEventOf<'model-chunk'>): void {
    const run = this.#runs.get(runId) ?? this.#add(runId, unannounced)
    run.message?.write(message)
    const usage = message.usage_metadata as UsageMetadata | undefined
    // Each chunk reports a share: the input first and the output last, for example.
    if (usage !== undefined) run.usage = run.usage ? mergeUsageMetadata(run.usage, usage) : usage
  }

  end({ runId, message }: GraphEventOf<'model-end'>): void {
    const run = this.#runs.get(runId) ?? this.#add(runId, unannounced)
    if (this.#isPassedOn(run, message)) return this.#forget(runId)
    if (run.message) {
      run.message.complete(message)
      // Providers may change the id at the end. Clients have the first one.
      this.#options.messages.addShown(run.message.messageId)
      this.#options.messages.addShown(message?.id)
      const { messageId } = run.message
      if (message && messageId !== undefined) this.#options.rewritten.addShown(messageId, message)
    }
    this.#remove(runId, run, message)
  }

  /** Whether a model has only passed on the message of another one, which it has called. */
  #isPassedOn({ message: written }: ModelRun, message: BaseMessage | undefined): boolean {
    const isSilent = written?.messageId === undefined
    return isSilent && message?.id !== undefined && this.#options.messages.shown.has(message.id)
  }

  error({ runId, error, isInterrupt }: GraphEventOf<'model-error'>): void {
    const run = this.#runs.get(runId)
    if (!run) return
    const broken = run.message?.breakOff()
    // A model that was aborted or interrupted has not failed.
    const isAbort = error instanceof Error && /abort/i.test(error.name)
    if (broken && !isInterrupt && !isAbort) this.#broken.push(broken)
    this.#remove(runId, run)
  }

  finish(): void {
    for (const [runId, run] of this.#runs) {
      run.message?.breakOff()
      this.#remove(runId, run)
    }
  }

  /** Rejects the broken messages of a span, where the graph continues: clients may hide them, models do not see them. */
  rejectBroken(subagentRunId: string | undefined): void {
    if (this.#broken.length === 0) return
    const rejected = this.#broken.filter((broken) => broken.subagentRunId === subagentRunId)
    this.#broken = this.#broken.filter((broken) => broken.subagentRunId !== subagentRunId)
    for (const broken of rejected) this.#reject(broken)
  }

  #reject({ subagentRunId, messageId, reasoningIds, toolCallIds }: BrokenMessage): void {
    const { sink, calls } = this.#options
    const tag = subagentRunId === undefined ? {} : { subagentRunId }
    const messages = [
      ...reasoningIds.map((id) => ({ id, role: 'reasoning' as const, ...tag })),
      ...(messageId === undefined ? [] : [{ id: messageId, role: 'assistant' as const, ...tag }]),
    ]
    for (const message of messages) for (const event of rejectMessage(message, 'error')) sink.add(event)
    const metadata = rejectedMark('error')
    for (const toolCallId of toolCallIds)
      calls.result({ toolCallId, content: rejectedCallContent, metadata, subagentRunId })
  }

  #add(runId: string, { isHidden, provider, model, predictState = [] }: ModelFacts): ModelRun {
    const { subagentRunId } = this.#options.spans.of(runId)
    const message = isHidden
      ? undefined
      : new ModelMessage({ ...this.#options, subagentRunId, fallbackId: `run-${runId}`, predictState })
    const run: ModelRun = { message, provider, model, usage: undefined }
    this.#runs.set(runId, run)
    return run
  }

  #remove(runId: string, run: ModelRun, whole?: BaseMessage): void {
    const usage = modelRunUsage(run, whole)
    if (usage) this.#options.addUsage(usage)
    this.#forget(runId)
  }

  #forget(runId: string): void {
    this.#runs.delete(runId)
    this.#options.spans.leave(runId)
  }
}

/** The usage of a model call. The whole message wins. Undefined if unknown. */
function modelRunUsage(run: ModelRun, whole: BaseMessage | undefined): TokenUsage | undefined {
  const { usage_metadata: usage = run.usage } = (whole ?? {}) as { usage_metadata?: UsageMetadata }
  const provider = run.provider ?? responseField(whole, 'model_provider')
  const model = run.model ?? responseField(whole, 'model_name') ?? responseField(whole, 'model')
  return tokenUsageFromLangChainMetadata(usage, {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
  })
}

function responseField(whole: BaseMessage | undefined, key: string): string | undefined {
  const value: unknown = whole?.response_metadata[key]
  return typeof value === 'string' && value !== '' ? value : undefined
}
