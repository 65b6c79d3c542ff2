import { delay, isAbortError } from '../../core/abort.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { isRetryableStatus } from '../../models/index.js'
import {
  createRunStream,
  rejectedMark,
  retryEventName,
  type AgentEvent,
  type RunStream,
} from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { checkAgent } from '../check-agent.js'
import { checkNumber } from '../check-number.js'
import { wrapAgent } from '../wrap-agent.js'
import {
  delayBefore,
  fieldOf,
  isRetryableModelError,
  toRetryPolicy,
  type RetryPolicy,
} from './retry-policy.js'

/** How often an agent is run again when it fails, and after which delays. */
export interface WithRetryOptions {
  /** How often after the first time. Default 3; 0 means never. */
  readonly maxRetries?: number
  /** The delay before the first retry. Default 1,000. */
  readonly delayMs?: number
  /** The factor of each later delay. Default 2. */
  readonly factor?: number
  /** The longest delay, unless a provider asks for more with Retry-After. Default 60,000. */
  readonly maxDelayMs?: number
  /** The share of a delay, from 0 to 1, that is random. Default 0. */
  readonly jitter?: number
  /**
   * Whether an error is temporary. `undefined` leaves it to the default. Not called for aborts and interrupts, nor when a
   * retry could do something twice. An error it throws fails the agent.
   */
  readonly isRetryable?: (error: unknown) => boolean | undefined
  /**
   * Whether the agent, run again, continues where it failed, with the results of its tools. Default: the agent's own
   * `resumesAfterFailure`, else no: then an attempt that has called a tool is the last.
   */
  readonly resumesAfterFailure?: boolean
  /** Returns numbers in [0, 1). */
  readonly random?: () => number
}

interface Retrying extends RetryPolicy {
  readonly agent: Agent
  readonly resumes: boolean
  readonly maxRetries: number
  readonly isTemporary: ((error: unknown) => boolean | undefined) | undefined
  readonly random: () => number
}

/**
 * The same agent, run again when it throws. The messages of a failed attempt are closed and marked as rejected, and
 * clients get a CUSTOM event `millrace.retry`. After the last attempt it throws MAX_RETRIES_EXCEEDED, with the last error
 * as the cause. Rethrows errors that are not temporary at once. Throws INVALID_AGENT when an option makes no sense.
 *
 * @example
 * const patient = withRetry(agent, { maxRetries: 5, delayMs: 500 })
 */
export function withRetry(agent: Agent, options: WithRetryOptions = {}): Agent {
  checkAgent(agent, 'The agent of `withRetry`')
  const { maxRetries = 3, delayMs = 1000, factor = 2, maxDelayMs = 60_000, jitter = 0 } = options
  checkNumber('maxRetries', maxRetries, { isInteger: true })
  checkNumber('delayMs', delayMs)
  const policy = toRetryPolicy({
    attempts: maxRetries + 1,
    initialDelayMs: delayMs,
    factor,
    maxDelayMs,
    jitter,
  })
  const retrying: Retrying = {
    ...policy,
    agent,
    maxRetries,
    resumes: options.resumesAfterFailure ?? agent.resumesAfterFailure ?? false,
    isTemporary: options.isRetryable,
    random: options.random ?? Math.random,
  }
  return wrapAgent(agent, (ctx) => runWithRetry(retrying, ctx))
}

async function* runWithRetry(retrying: Retrying, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const { agent, maxRetries, resumes, random } = retrying
  const contexts = createContexts(ctx)
  for (let ordinal = 1; ; ordinal++) {
    const attempt = new RejectableAttempt(ctx.services.newId)
    let error: unknown
    try {
      return yield* runAttempt(agent.run(contexts.next()), attempt)
    } catch (thrown) {
      error = thrown
    }
    const { hasOpenCalls, hasResults } = attempt
    const isSafe = resumes ? !hasOpenCalls : !contexts.isResumed && !hasOpenCalls && !hasResults
    if (maxRetries === 0 || !isSafe || !isTemporary(error, ctx, retrying)) throw error
    const reason = toWireError(error).message
    const { events, messageIds } = attempt.reject(resumes ? 'incomplete' : 'all', reason)
    yield* events
    if (ordinal > maxRetries) throw exhausted(error, retrying)
    const delayMs = delayBefore({ attempt: ordinal, error }, retrying, random)
    const next = { agent: agent.name, next: 'same-agent', delayMs, messageIds }
    yield { type: 'CUSTOM', name: retryEventName, value: { reason, attempt: ordinal, maxRetries, ...next } }
    await delay(delayMs, { clock: ctx.services.clock, signal: ctx.signal })
    // No call is running between attempts, so this is a safe point.
    if (ctx.services.shouldStop('tools')) return { type: 'cancelled' }
  }
}

async function* runAttempt(
  source: AsyncGenerator<AgentEvent, Control>,
  attempt: RejectableAttempt,
): AsyncGenerator<AgentEvent, Control> {
  let isOver = false
  try {
    for (;;) {
      const step = await source.next()
      isOver = step.done === true
      if (step.done === true) return step.value
      for (const event of attempt.take(step.value)) yield event
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    if (!isOver) await source.return({ type: 'cancelled' })
  }
}

const attemptEvents = /^(TEXT|REASONING|TOOL_CALL|STEP|SUBAGENT)_/

/** The events of one attempt. A run stream of its own knows the open items, so that the attempt can be rejected. */
class RejectableAttempt {
  /** Whether the result of a tool was shown. */
  hasResults = false
  readonly #stream: RunStream
  readonly #written: AgentEvent[] = []

  constructor(newId: (prefix: string) => string) {
    this.#stream = createRunStream({
      ...{ threadId: '', runId: '' },
      newId: () => newId('message'),
      emit: (event) => {
        if (event.type === 'RUN_STARTED' || event.type === 'RUN_FINISHED' || event.type === 'RUN_ERROR')
          return
        this.#written.push(event)
      },
    })
  }

  /** Whether a tool call has no result. */
  get hasOpenCalls(): boolean {
    const { messages } = this.#stream.fold
    const results = new Set(messages.map((one) => (one.role === 'tool' ? one.toolCallId : undefined)))
    return messages.some(
      (one) => one.role === 'assistant' && one.toolCalls?.some(({ id }) => !results.has(id)) === true,
    )
  }

  /** Takes the next event. Returns the events to yield for it, where chunks have the id of their message. */
  take(event: AgentEvent): readonly AgentEvent[] {
    if (event.type === 'TOOL_CALL_RESULT') this.hasResults = true
    // An encrypted value may be for a message that only the run's own stream knows.
    if (event.type === 'REASONING_ENCRYPTED_VALUE' || !attemptEvents.test(event.type)) return [event]
    this.#written.length = 0
    try {
      this.#stream.write(event)
    } catch {
      // The run's own stream reports an event without meaning.
      return [event]
    }
    return this.#written.length > 0 ? this.#written : [event]
  }

  /** Closes all open items, and marks messages as rejected: all, or only the incomplete ones. */
  reject(
    which: 'all' | 'incomplete',
    reason: string,
  ): { events: AgentEvent[]; messageIds: readonly string[] } {
    this.#written.length = 0
    const incomplete = this.#stream.closeOpen({
      reason: 'The attempt it was part of has failed.',
      mark: rejectedMark(reason),
      markComplete: which === 'all',
    })
    const messageIds = which === 'all' ? this.#stream.fold.messages.map(({ id }) => id) : incomplete
    return { events: [...this.#written], messageIds }
  }
}

/** Contexts for the attempts. The frame of a resumed run can be taken once: here once in every attempt. */
function createContexts(ctx: RunContext) {
  let saved: { readonly frame: unknown } | undefined
  return {
    /** Whether the run was resumed. Most agents can resume only once: they also take the frames below them. */
    get isResumed(): boolean {
      return ctx.resume.answers.size > 0 || ctx.resumed !== undefined || saved?.frame !== undefined
    },
    next(): RunContext {
      let isTaken = false
      const takeFrame = (): unknown => {
        if (isTaken) return undefined
        isTaken = true
        saved ??= { frame: ctx.resume.takeFrame() }
        return saved.frame
      }
      return Object.create(ctx, { resume: { value: { ...ctx.resume, takeFrame } } }) as RunContext
    },
  }
}

function isTemporary(error: unknown, { signal }: RunContext, retrying: Retrying): boolean {
  if (signal.aborted || isAbortError(error) || fieldOf(error, 'name') === 'InterruptSignal') return false
  return retrying.isTemporary?.(error) ?? isTemporaryByDefault(error)
}

/** An error without details counts as temporary: most agents just throw. */
function isTemporaryByDefault(error: unknown): boolean {
  if (!MillraceError.isInstance(error)) {
    const status = fieldOf(error, 'status') ?? fieldOf(error, 'statusCode')
    return typeof status !== 'number' || isRetryableStatus(status)
  }
  const { code, details, cause } = error
  const isSilent = details.retryable === undefined && details.status === undefined && cause === undefined
  if (code === 'MODEL_ERROR') return isSilent || isRetryableModelError(error)
  return code === 'AGENT_ERROR' && (cause === undefined || isTemporaryByDefault(cause))
}

function exhausted(cause: unknown, { agent, maxRetries }: Retrying): MillraceError {
  const times = maxRetries === 1 ? 'one retry' : `${maxRetries} retries`
  return new MillraceError('MAX_RETRIES_EXCEEDED', `Agent '${agent.name}' failed, also after ${times}.`, {
    details: { maxRetries },
    cause,
  })
}
