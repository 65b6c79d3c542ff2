import { delay, isAbortError } from '../../core/abort.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { isRetryableStatus } from '../../models/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext } from '../contract.js'
import { checkNumber } from '../check-number.js'
import { delayBefore, isRetryable, toRetryPolicy, type RetryPolicy } from './retry-policy.js'
import { ShownAttempt } from './rejected-attempt.js'

/** How often, and how patiently, an agent is run again when it fails. */
export interface WithRetryOptions {
  /** How often after the first time: 3 unless told. 0 means never. */
  readonly maxRetries?: number
  /** The pause before the first retry: 1,000 unless told. */
  readonly delayMs?: number
  /** What each later pause is multiplied by: 2 unless told. */
  readonly factor?: number
  /** No pause is longer, unless a provider asks for it with Retry-After: 60,000 unless told. */
  readonly maxDelayMs?: number
  /** The share of a pause, from 0 to 1, that chance may take away: 0 unless told. */
  readonly jitter?: number
  /**
   * Whether an error may pass. `undefined` leaves it to the default. Not asked about aborts and interrupts, nor when a
   * retry could do something twice. What it throws fails the agent.
   */
  readonly isRetryable?: (error: unknown) => boolean | undefined
  /**
   * Whether the agent, run again, goes on where it failed, with the results its tools had. Default: what the agent says
   * of itself, else no: then an attempt that has called a tool is the last.
   */
  readonly resumesAfterFailure?: boolean
  /** Gives numbers in [0, 1). */
  readonly random?: () => number
}

interface Retrying extends RetryPolicy {
  readonly agent: Agent
  readonly resumes: boolean
  readonly maxRetries: number
  readonly judge: ((error: unknown) => boolean | undefined) | undefined
  readonly random: () => number
}

/**
 * The same agent, run again when it throws. What a failed attempt has shown is closed and marked as taken back, and
 * clients are told of it by a CUSTOM event `millrace.retry`. After the last attempt it throws MAX_RETRIES_EXCEEDED, with
 * the last error as the cause. Errors that do not pass are thrown on at once. Throws INVALID_AGENT when an option makes
 * no sense.
 *
 * @example
 * const patient = withRetry(agent, { maxRetries: 5, delayMs: 500 })
 */
export function withRetry(agent: Agent, options: WithRetryOptions = {}): Agent {
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
    judge: options.isRetryable,
    random: options.random ?? Math.random,
  }
  return { ...passedOn(agent), run: (ctx) => runWithRetry(retrying, ctx) }
}

// Listed one by one, since an agent may be an instance of a class; the compiler sees to it that none is forgotten.
const members: Readonly<Record<Exclude<keyof Agent, 'run'>, true>> = {
  ...{ name: true, description: true, shape: true, capabilities: true, examples: true, memory: true },
  ...{ hasNativeEvents: true, resumesAfterFailure: true },
}

function passedOn(agent: Agent): Omit<Agent, 'run'> {
  const given = Object.keys(members).flatMap((key) => {
    const value: unknown = Reflect.get(agent, key)
    return value === undefined ? [] : [[key, value] as const]
  })
  return Object.fromEntries(given) as unknown as Omit<Agent, 'run'>
}

async function* runWithRetry(retrying: Retrying, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const { agent, maxRetries, random } = retrying
  const place = createPlaces(ctx)
  for (let attempt = 1; ; attempt++) {
    const shown = new ShownAttempt(ctx.services.newId)
    let error: unknown
    try {
      return yield* watched(agent.run(place.next()), shown)
    } catch (thrown) {
      error = thrown
    }
    const isSafe = retrying.resumes ? !shown.hasOpenCalls : !place.isResumed && !hasCalls(shown)
    if (maxRetries === 0 || !isSafe || !mayPass(error, ctx, retrying)) throw error
    if (attempt > maxRetries) throw exhausted(error, retrying)
    const delayMs = delayBefore({ attempt, error }, retrying, random)
    const reason = toWireError(error).message
    const { events, messageIds } = shown.takeBack(retrying.resumes ? 'incomplete' : 'all', reason)
    yield* events
    const value = { reason, attempt, maxRetries, agent: agent.name, next: 'same-agent', delayMs, messageIds }
    yield { type: 'CUSTOM', name: 'millrace.retry', value }
    await delay(delayMs, { clock: ctx.services.clock, signal: ctx.signal })
    // Nothing is under way here, so it is a safe point.
    if (ctx.services.shouldStop('tools')) return { type: 'cancelled' }
  }
}

async function* watched(
  source: AsyncGenerator<AgentEvent, Control>,
  shown: ShownAttempt,
): AsyncGenerator<AgentEvent, Control> {
  let isOver = false
  try {
    for (;;) {
      const step = await source.next()
      isOver = step.done === true
      if (step.done === true) return step.value
      yield shown.take(step.value)
    }
  } catch (error) {
    isOver = true
    throw error
  } finally {
    if (!isOver) await source.return({ type: 'cancelled' })
  }
}

/** Contexts for the attempts. The position a resumed run saved can be taken once: here once in every attempt. */
function createPlaces(ctx: RunContext) {
  let saved: { readonly frame: unknown } | undefined
  return {
    /** Whether the run goes on from a pause. Most agents can do that only once: what is below them is taken too. */
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

function hasCalls({ hasOpenCalls, hasResults }: ShownAttempt): boolean {
  return hasOpenCalls || hasResults
}

function mayPass(error: unknown, { signal }: RunContext, { judge }: Retrying): boolean {
  if (signal.aborted || isAbortError(error) || fieldOf(error, 'name') === 'InterruptSignal') return false
  return judge?.(error) ?? isPassing(error)
}

/** Errors that say nothing of themselves count as passing: an agent may be anything, and most of them just throw. */
function isPassing(error: unknown): boolean {
  if (!MillraceError.isInstance(error)) {
    const status = fieldOf(error, 'status') ?? fieldOf(error, 'statusCode')
    return typeof status !== 'number' || isRetryableStatus(status)
  }
  const { code, details, cause } = error
  const isSilent = details.retryable === undefined && details.status === undefined && cause === undefined
  if (code === 'MODEL_ERROR') return isSilent || isRetryable(error)
  return code === 'AGENT_ERROR' && (cause === undefined || isPassing(cause))
}

function exhausted(cause: unknown, { agent, maxRetries }: Retrying): MillraceError {
  const times = maxRetries === 1 ? 'one retry' : `${maxRetries} retries`
  return new MillraceError('MAX_RETRIES_EXCEEDED', `Agent '${agent.name}' failed, also after ${times}.`, {
    details: { maxRetries },
    cause,
  })
}

function fieldOf(value: unknown, field: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, field) : undefined
}
