import type { RunAgentInput } from '@ag-ui/core'
import type { Clock } from '../../core/clock.js'
import type { AgUiAgent } from '../options.js'
import { endedEarly, remoteError } from '../remote-error.js'
import { runChain } from './chain.js'
import { createLine, type Line } from './line.js'
import { watchFetch } from './watch-fetch.js'

export interface RemoteEventsOptions {
  /** For error messages. */
  readonly name: string
  readonly input: RunAgentInput
  readonly signal: AbortSignal
  readonly clock: Clock
  /** How long the agent may take to stop, or to close its stream when it has said all. */
  readonly graceMs: number
  /** Whether the run has ended, by what it said so far. */
  readonly hasEnded: () => boolean
  readonly report: (problem: string) => void
  /** Tells the agent's server that the run is not wanted any more, where hanging up does not. */
  readonly cancel: (() => void | Promise<void>) | undefined
}

/**
 * What an agent emits in one run, unchecked. Takes the instance for itself: give it a clone.
 *
 * - Throws a MillraceError when the agent cannot be reached, refuses, breaks off, or ends without the end of its run.
 * - When `signal` aborts, the agent is told to (`abortRun`), and this throws the reason when it has stopped, or after the
 *   grace time if it does not.
 * - A reader that leaves after the end of the run lets the agent close its stream by itself; one that leaves before
 *   aborts it.
 */
export async function* remoteEvents(
  agent: AgUiAgent,
  options: RemoteEventsOptions,
): AsyncGenerator<unknown, void> {
  const { name, signal, hasEnded } = options
  signal.throwIfAborted()
  const line = createLine({ signal })
  const transport = watchFetch(agent, line.room)
  const running = start(agent, options.input, line)
  const stop = createStop(agent, options)
  const abort = (): void => void stop()
  signal.addEventListener('abort', abort)
  try {
    yield* line.events
  } catch (error) {
    signal.throwIfAborted()
    throw remoteError(name, error, transport)
  } finally {
    signal.removeEventListener('abort', abort)
    await close(running, stop, options)
  }
  if (!hasEnded()) throw endedEarly(name, transport)
}

interface Running {
  /** Resolves when the stream is over, however it ends. */
  readonly over: Promise<void>
  readonly isOver: () => boolean
  readonly unsubscribe: () => void
}

function start(agent: AgUiAgent, input: RunAgentInput, line: Line): Running {
  let isOver = false
  let settle: () => void = () => undefined
  const over = new Promise<void>((resolve) => (settle = resolve))
  const end = (): void => {
    isOver = true
    settle()
  }
  const fail = (error: unknown): void => {
    line.fail(error)
    end()
  }
  const complete = (): void => {
    line.close()
    end()
  }
  let subscription: { unsubscribe(): void } | undefined
  try {
    subscription = runChain(agent, input).subscribe({ next: line.put, error: fail, complete })
  } catch (error) {
    fail(error)
  }
  return { over, isOver: () => isOver, unsubscribe: () => subscription?.unsubscribe() }
}

/** Waits once at most, whatever the agent does. */
async function close(
  running: Running,
  stop: () => Promise<void>,
  options: RemoteEventsOptions,
): Promise<void> {
  const mayFinish = options.hasEnded() && !options.signal.aborted
  // A server may still have to save what it said: who hangs up would stop it.
  if (mayFinish && !running.isOver()) await within(running.over, options)
  if (!running.isOver() || options.signal.aborted) {
    const stopped = Promise.all([stop(), running.over])
    if (!mayFinish) await within(stopped, options)
  }
  running.unsubscribe()
}

/** Stops the agent, once. Resolves when its server was told too. Never rejects. */
function createStop(agent: AgUiAgent, options: RemoteEventsOptions): () => Promise<void> {
  const { name, hasEnded, cancel, report } = options
  async function stop(): Promise<void> {
    try {
      agent.abortRun()
      if (!hasEnded()) await cancel?.()
    } catch (error) {
      report(`agent '${name}' could not be stopped: ${String(error)}`)
    }
  }
  let stopped: Promise<void> | undefined
  return () => (stopped ??= stop())
}

function within(work: Promise<unknown>, { clock, graceMs }: RemoteEventsOptions): Promise<void> {
  return new Promise((resolve) => {
    const timeOut = clock.schedule(graceMs, resolve)
    void work.then(() => {
      timeOut()
      resolve()
    })
  })
}
