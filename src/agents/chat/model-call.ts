import { delay } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunContext } from '../contract.js'
import { judgeAttempt, type Decision, type ModelAttempt, type RetryPolicy } from '../retry/retry-policy.js'
import { tracedStream } from '../run/tracing.js'
import { ModelAnswer } from './model-answer.js'
import type { Middleware } from './middleware.js'

export interface ModelCallOptions {
  readonly ctx: RunContext
  /** The model to call first, then those for failover. */
  readonly models: readonly Model[]
  readonly retry: RetryPolicy
  readonly middlewares: readonly Middleware[]
}

/** Calls models until an answer is accepted. Rejects the messages of failed attempts. */
export async function* callModel(
  request: ModelRequest,
  { ctx, models, retry, middlewares }: ModelCallOptions,
): AsyncGenerator<AgentEvent, ModelAnswer> {
  const { clock, addUsage } = ctx.services
  let current = request
  let failure: unknown
  for (const [index, model] of models.entries()) {
    const stream = withMiddlewares(middlewares, model, ctx)
    for (let ordinal = 1; ; ordinal++) {
      const answer = new ModelAnswer(ctx.services)
      let attempt: ModelAttempt = { attempt: ordinal, model, request: current }
      // The innermost loop stands here: a generator for each attempt would cost every token several microtasks.
      try {
        for await (const part of stream(current)) {
          if (part.type === 'text-delta' || part.type === 'reasoning-delta') {
            const event = answer.addDelta(part)
            if (event) yield event
          } else for (const event of answer.add(part)) yield event
        }
        if (answer.usage) addUsage({ provider: model.provider, model: model.modelId, ...answer.usage })
        attempt = { ...attempt, answer: summaryOf(answer) }
      } catch (error) {
        attempt = { ...attempt, error }
      }
      for (const event of answer.end()) yield event
      const decision = await judgeAttempt(attempt, retry)
      if (decision.type === 'accept') return answer
      failure = failureOf(attempt, decision)
      const reason = 'reason' in decision ? decision.reason : 'The model did not answer.'
      for (const event of answer.reject(reason)) yield event
      if (decision.type === 'stop') throw failure
      if (decision.type === 'retry' || index < models.length - 1)
        yield retryEvent(answer, attempt, { decision, reason })
      if (decision.type !== 'retry') break
      await delay(decision.delayMs, { clock, signal: ctx.signal })
      if (decision.messages) current = { ...current, messages: decision.messages }
    }
  }
  throw failure
}

/** The model's stream with the middlewares around it, the first one outermost. */
function withMiddlewares(
  middlewares: readonly Middleware[],
  model: Model,
  ctx: RunContext,
): (request: ModelRequest) => AsyncIterable<ModelPart> {
  let next = (request: ModelRequest): AsyncIterable<ModelPart> => tracedStream(model, request, ctx.span.trace)
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
  return new MillraceError(
    'MODEL_ERROR',
    `${model.provider}/${model.modelId} gave up after ${times}: ${reason}`,
    {
      details: { attempts: attempt, retryable: false },
      cause: error,
    },
  )
}

/** Names the rejected messages and the next attempt, for clients. */
function retryEvent(
  { messages }: ModelAnswer,
  { attempt, model }: ModelAttempt,
  { decision, reason }: { readonly decision: Decision; readonly reason: string },
): AgentEvent {
  return {
    type: 'CUSTOM',
    name: 'millrace.retry',
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
