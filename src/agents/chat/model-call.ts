import { delay } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../../models/index.js'
import { retryEventName, type AgentEvent } from '../../protocol/index.js'
import type { RunContext } from '../contract.js'
import { judgeAttempt, type Decision, type ModelAttempt, type RetryPolicy } from '../retry/retry-policy.js'
import { tracedStream } from '../run/tracing.js'
import { ModelAnswer } from './model-answer.js'
import type { Middleware } from './middleware.js'
import { observedStream } from './observed-stream.js'

export interface ModelCallOptions {
  readonly ctx: RunContext
  readonly request: ModelRequest
  /** The model to call first, then those for failover. */
  readonly models: readonly Model[]
  readonly retry: RetryPolicy
  readonly middlewares: readonly Middleware[]
}

/**
 * Calls models until an answer is accepted. The caller reads the stream of each attempt into `answer`: a generator here
 * would cost every token several microtasks.
 */
export class ModelCall {
  answer: ModelAnswer
  readonly #options: ModelCallOptions
  /** The models for failover. */
  readonly #others: Model[]
  #model: Model
  #request: ModelRequest
  /** The current attempt of the current model. */
  #ordinal = 1

  /** Throws INVALID_AGENT when there is no model. */
  constructor(options: ModelCallOptions) {
    const [model, ...others] = options.models
    if (!model) throw new MillraceError('INVALID_AGENT', 'A chat agent needs a model.')
    this.#options = options
    this.#model = model
    this.#others = others
    this.#request = options.request
    this.answer = new ModelAnswer(options.ctx.services)
  }

  /** The parts of the current attempt. */
  stream(): AsyncIterable<ModelPart> {
    const { middlewares, ctx } = this.#options
    ctx.services.assertActive()
    return withMiddlewares(middlewares, this.#model, ctx)(this.#request)
  }

  /**
   * Ends an attempt. Returns whether its answer is accepted; if not, rejects its messages and prepares the next attempt.
   * Throws when there is none.
   */
  async *endAttempt(failure?: { readonly error: unknown }): AsyncGenerator<AgentEvent, boolean> {
    const { ctx, retry } = this.#options
    const { answer } = this
    const { provider, modelId } = this.#model
    if (answer.usage) ctx.services.addUsage({ provider, model: modelId, ...answer.usage })
    yield* answer.end()
    const attempt: ModelAttempt = {
      ...{ attempt: this.#ordinal, model: this.#model, request: this.#request },
      ...(failure ?? { answer: summaryOf(answer) }),
    }
    const decision = await judgeAttempt(attempt, retry)
    if (decision.type === 'accept') return true
    const reason = 'reason' in decision ? decision.reason : 'The model did not answer.'
    yield* answer.reject(reason)
    const next = decision.type === 'retry' ? this.#model : this.#others.shift()
    if (decision.type === 'stop' || !next) throw failureOf(attempt, decision)
    yield retryEvent(answer, attempt, { decision, reason })
    await this.#prepareAttempt(next, decision)
    return false
  }

  async #prepareAttempt(model: Model, decision: Decision): Promise<void> {
    const { ctx } = this.#options
    this.answer = new ModelAnswer(ctx.services)
    this.#model = model
    this.#ordinal++
    if (decision.type !== 'retry') {
      this.#ordinal = 1
      return
    }
    await delay(decision.delayMs, { clock: ctx.services.clock, signal: ctx.signal })
    if (decision.messages) this.#request = { ...this.#request, messages: decision.messages }
  }
}

/** The model's stream with the middlewares around it, the first one outermost. */
function withMiddlewares(
  middlewares: readonly Middleware[],
  model: Model,
  ctx: RunContext,
): (request: ModelRequest) => AsyncIterable<ModelPart> {
  let next = (request: ModelRequest): AsyncIterable<ModelPart> => {
    const stream = tracedStream(model, request, ctx.span.trace)
    return ctx.services.onModelRequest ? observedStream(stream, { model, request, ctx }) : stream
  }
  for (const middleware of [...middlewares].reverse()) {
    if (!middleware.model) continue
    const inner = next
    next = (request) => middleware.model?.(request, inner, ctx) ?? inner(request)
  }
  return next
}

function summaryOf({
  text,
  toolCalls,
  finishReason,
  usage,
}: ModelAnswer): NonNullable<ModelAttempt['answer']> {
  return { text, toolCalls, finishReason, ...(usage === undefined ? {} : { usage }) }
}

function failureOf({ error, model, attempt, answer }: ModelAttempt, decision: Decision): unknown {
  if (answer === undefined && decision.type !== 'exhausted') return error
  const reason = 'reason' in decision ? decision.reason : 'its answer was rejected'
  const times = attempt === 1 ? 'one attempt' : `${attempt} attempts`
  const what = `${model.provider}/${model.modelId} gave up after ${times}`
  return new MillraceError('MODEL_ERROR', `${what}: ${reason}`, {
    details: { attempts: attempt, retryable: false },
    logMessage: what,
    cause: error,
  })
}

/** Names the rejected messages and the next attempt, for clients. */
function retryEvent(
  { messages }: ModelAnswer,
  { attempt, model }: ModelAttempt,
  { decision, reason }: { readonly decision: Decision; readonly reason: string },
): AgentEvent {
  return {
    type: 'CUSTOM',
    name: retryEventName,
    value: {
      reason,
      attempt,
      model: `${model.provider}/${model.modelId}`,
      next: decision.type === 'retry' ? 'same-model' : 'other-model',
      delayMs: decision.type === 'retry' ? decision.delayMs : 0,
      messageIds: messages.map(({ id }) => id),
    },
  }
}
