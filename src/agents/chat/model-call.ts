import { delay } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunContext } from '../contract.js'
import type { Middleware } from './middleware.js'
import { decide, type Decision, type ModelAttempt, type RetryPolicy } from '../retry/retry-policy.js'
import { tracedAnswer } from '../run/tracing.js'
import { AnswerDraft, type Draft } from './answer.js'

export interface AskOptions {
  readonly ctx: RunContext
  /** The model to ask first, and those to turn to when it does not answer. */
  readonly models: readonly Model[]
  readonly retry: RetryPolicy
  readonly middlewares: readonly Middleware[]
}

/** Asks until there is an answer to go on with. What an attempt has shown that came to nothing is taken back. */
export async function* askModel(
  request: ModelRequest,
  options: AskOptions,
): AsyncGenerator<AgentEvent, Draft> {
  const { ctx, models, retry } = options
  let current = request
  let failure: unknown
  for (const [index, model] of models.entries()) {
    for (let attempt = 1; ; attempt++) {
      const tried = yield* tryOnce(current, { ...options, model, attempt })
      const decision = await decide(tried.attempt, retry)
      if (decision.type === 'accept') return tried.draft
      failure = failureOf(tried.attempt, decision)
      const reason = 'reason' in decision ? decision.reason : 'The model did not answer.'
      yield* rejectDraft(tried.draft, reason, ctx.services.newId)
      if (decision.type === 'stop') throw failure
      if (decision.type === 'retry' || index < models.length - 1) yield retryEvent(tried, decision, reason)
      if (decision.type !== 'retry') break
      await delay(decision.delayMs, { clock: ctx.services.clock, signal: ctx.signal })
      if (decision.messages) current = { ...current, messages: decision.messages }
    }
  }
  throw failure
}

interface Tried {
  readonly attempt: ModelAttempt
  readonly draft: Draft
}

async function* tryOnce(
  request: ModelRequest,
  { ctx, model, attempt, middlewares }: AskOptions & { readonly model: Model; readonly attempt: number },
): AsyncGenerator<AgentEvent, Tried> {
  const draft = new AnswerDraft(ctx.services)
  const tried = { attempt, model, request }
  try {
    for await (const part of around(middlewares, model, ctx)(request)) {
      // Not `yield*`: over a plain list it takes three turns of the microtask queue for every event.
      for (const event of draft.take(part)) yield event
    }
    yield* draft.close()
  } catch (error) {
    yield* draft.close()
    return { attempt: { ...tried, error }, draft }
  }
  if (draft.usage) ctx.services.addUsage({ provider: model.provider, model: model.modelId, ...draft.usage })
  return { attempt: { ...tried, answer: answerOf(draft) }, draft }
}

/** The model with the middlewares around it, the first one outermost. */
function around(
  middlewares: readonly Middleware[],
  model: Model,
  ctx: RunContext,
): (request: ModelRequest) => AsyncIterable<ModelPart> {
  let next = (request: ModelRequest): AsyncIterable<ModelPart> => tracedAnswer(model, request, ctx.span.trace)
  for (const middleware of [...middlewares].reverse()) {
    if (!middleware.model) continue
    const inner = next
    next = (request) => middleware.model?.(request, inner, ctx) ?? inner(request)
  }
  return next
}

function answerOf(draft: Draft): NonNullable<ModelAttempt['answer']> {
  const toolCalls = draft.messages.flatMap((message) =>
    message.role === 'assistant' ? (message.toolCalls ?? []) : [],
  )
  const { text, finishReason, usage } = draft
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

/** Tells the client that what it saw of an attempt was taken back, and what is tried next. */
function retryEvent({ draft, attempt }: Tried, decision: Decision, reason: string): AgentEvent {
  return {
    type: 'CUSTOM',
    name: 'millrace.retry',
    value: {
      reason,
      attempt: attempt.attempt,
      model: `${attempt.model.provider}/${attempt.model.modelId}`,
      next: decision.type === 'retry' ? 'same-model' : 'other-model',
      delayMs: decision.type === 'retry' ? decision.delayMs : 0,
      messageIds: draft.messages.map(({ id }) => id),
    },
  }
}

/** The metadata of what was taken back. Clients may hide it; models never see it. */
function mark(reason: string) {
  return { metadata: { millrace: { rejected: reason } } }
}

/** Marks all that an attempt has shown as taken back, and answers its calls: nobody is to carry them out. */
export function rejectDraft(draft: Draft, reason: string, newId: (prefix: string) => string): AgentEvent[] {
  const events: AgentEvent[] = []
  for (const message of draft.messages) {
    const { id: messageId } = message
    if (message.role === 'reasoning') {
      events.push({ type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...mark(reason) })
      events.push({ type: 'REASONING_MESSAGE_END', messageId })
    } else {
      events.push({ type: 'TEXT_MESSAGE_START', messageId, role: 'assistant', ...mark(reason) })
      events.push({ type: 'TEXT_MESSAGE_END', messageId })
    }
  }
  for (const { id: toolCallId } of draft.calls) {
    const content = 'This call was taken back. It was not carried out.'
    events.push({
      type: 'TOOL_CALL_RESULT',
      messageId: newId('message'),
      toolCallId,
      content,
      ...mark(reason),
    })
  }
  return events
}
