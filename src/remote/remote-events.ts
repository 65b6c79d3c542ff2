import type { RunAgentInput } from '@ag-ui/core'
import { EventQueue } from '../bridge/event-queue.js'
import type { Clock } from '../core/clock.js'
import { isRecord } from '../core/json.js'
import type { AgUiAgent, AgUiStream } from './contract.js'
import { endedEarly, remoteError } from './remote-error.js'
import { watchFetch } from './watch-fetch.js'

export interface RemoteEventsOptions {
  /** The agent's name, for error messages. */
  readonly name: string
  readonly input: RunAgentInput
  readonly signal: AbortSignal
  readonly clock: Clock
  /** How long the agent may take to stop, or to close its stream after the end of its run. */
  readonly graceMs: number
  /** Whether the run has ended, by its events so far. */
  readonly hasEnded: () => boolean
  readonly report: (problem: string, error?: unknown) => void
  /** Cancels the run on the agent's server, if closing the connection is not enough. */
  readonly cancel: (() => void | Promise<void>) | undefined
}

/** Above this number of unread events, the connection is not read further. */
const capacity = 256
/** The most unread events of an agent that cannot wait. */
const limit = 100_000

/**
 * The unchecked events of one run. Owns the instance: pass a clone.
 *
 * - Throws a MillraceError when the agent cannot be reached, refuses, breaks off, or closes its stream before its run ends.
 * - When `signal` aborts, calls `abortRun` and drops unread events; throws the reason when the agent has stopped, or after
 *   the grace time.
 * - A reader that leaves after the end of the run lets the agent close its stream; one that leaves before aborts it.
 */
export async function* remoteEvents(
  agent: AgUiAgent,
  options: RemoteEventsOptions,
): AsyncGenerator<unknown, void> {
  const { name, signal, hasEnded } = options
  signal.throwIfAborted()
  const queue = new EventQueue<unknown>({ capacity, limit, onEnd: () => signal.throwIfAborted() })
  const transport = watchFetch(agent, () => queue.waitForSpace())
  const stream = subscribe(agent, options.input, queue)
  const stop = createStop(agent, options)
  const abort = (): void => {
    queue.drop()
    void stop()
  }
  signal.addEventListener('abort', abort)
  try {
    for (let step = await queue.next(); step.done !== true; step = await queue.next()) yield step.value
  } catch (error) {
    signal.throwIfAborted()
    throw remoteError(name, error, transport)
  } finally {
    signal.removeEventListener('abort', abort)
    queue.drop()
    await closeStream(stream, stop, options)
  }
  if (!hasEnded()) throw endedEarly(name, transport)
}

interface Subscription {
  /** Resolves when the stream is over, however it ends. */
  readonly over: Promise<void>
  readonly isOver: () => boolean
  readonly unsubscribe: () => void
}

function subscribe(agent: AgUiAgent, input: RunAgentInput, queue: EventQueue<unknown>): Subscription {
  let isOver = false
  let settle: () => void = () => undefined
  const over = new Promise<void>((resolve) => (settle = resolve))
  const end = (): void => {
    isOver = true
    settle()
  }
  const error = (reason: unknown): void => {
    queue.fail(reason)
    end()
  }
  const complete = (): void => {
    queue.close()
    end()
  }
  let subscription: { unsubscribe(): void } | undefined
  try {
    const next = (event: unknown): void => void queue.put(event)
    subscription = runWithMiddlewares(agent, input).subscribe({ next, error, complete })
  } catch (reason) {
    error(reason)
  }
  return { over, isOver: () => isOver, unsubscribe: () => subscription?.unsubscribe() }
}

interface AgUiMiddleware {
  run(input: RunAgentInput, next: unknown): AgUiStream
}

/**
 * Runs the agent through the middlewares of its `use`, as `runAgent` does. Both generations of the client
 * keep them in a member without a public name.
 */
function runWithMiddlewares(agent: AgUiAgent, input: RunAgentInput): AgUiStream {
  const { messages, threadId } = input
  const state: unknown = input.state
  // Older agents read these instead of their input.
  Object.assign(agent, { messages, state, threadId })
  const member: unknown = Reflect.get(agent, 'middlewares')
  const middlewares = Array.isArray(member) ? member.filter(isMiddleware) : []
  const runAgent = (last: RunAgentInput): AgUiStream => agent.run(last as never)
  return middlewares.reduceRight<typeof runAgent>(
    (next, middleware) => (passed) => middleware.run(passed, { run: next, messages, state }),
    runAgent,
  )(input)
}

function isMiddleware(value: unknown): value is AgUiMiddleware {
  return isRecord(value) && typeof value.run === 'function'
}

/** Stops the agent, once. Resolves when its server is notified too. Never rejects. */
function createStop(agent: AgUiAgent, options: RemoteEventsOptions): () => Promise<void> {
  const { name, hasEnded, cancel, report } = options
  async function stop(): Promise<void> {
    try {
      agent.abortRun()
      if (!hasEnded()) await cancel?.()
    } catch (error) {
      report(`agent '${name}' could not be stopped`, error)
    }
  }
  let stopped: Promise<void> | undefined
  return () => (stopped ??= stop())
}

/** Waits for the grace time once at most, whatever the agent does. */
async function closeStream(
  stream: Subscription,
  stop: () => Promise<void>,
  options: RemoteEventsOptions,
): Promise<void> {
  const mayFinish = options.hasEnded() && !options.signal.aborted
  // A server may still have to save the run: closing the connection would stop it.
  if (mayFinish && !stream.isOver()) await waitAtMost(stream.over, options)
  if (!stream.isOver() || options.signal.aborted) {
    const stopped = Promise.all([stop(), stream.over])
    if (!mayFinish) await waitAtMost(stopped, options)
  }
  stream.unsubscribe()
}

function waitAtMost(work: Promise<unknown>, { clock, graceMs }: RemoteEventsOptions): Promise<void> {
  return new Promise((resolve) => {
    const timeOut = clock.schedule(graceMs, resolve)
    void work.then(() => {
      timeOut()
      resolve()
    })
  })
}
