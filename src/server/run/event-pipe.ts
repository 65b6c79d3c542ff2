import { MillraceError } from '../../core/errors.js'
import { createFold, eventProblem, type AgUiEvent, type Fold } from '../../protocol/index.js'
import type { RunInfo } from '../hooks/hooks.js'
import type { Feed } from '../live/feed.js'
import type { RunOrder } from './run-agent.js'
import { isPromise } from '../hooks/call-hook.js'
import { createUnwritten, notWritable, type Outgoing } from '../hooks/output-hooks.js'

type Send = (event: AgUiEvent) => Promise<void> | undefined

export interface Sender {
  readonly send: Send
  /** The full state, with all that was sent. Undefined when the run has not changed it. */
  state(): unknown
  /** Why it has stopped the run, if it did. A run that is at its end does not notice by itself. */
  problem(): unknown
}

/**
 * Takes the events of a run as they come, without what is private, with what this client has to know first. Never
 * throws: a hook that fails stops the run, and its event is sent as it was.
 */
export function createSender(
  { server, input, plan, controller }: RunOrder,
  feed: Feed,
  info: RunInfo,
): Sender {
  const { stateRules } = server
  let state: Fold | undefined
  const isCritical = criticalEvents(input.tools)
  const outgoing = createUnwritten(server, info)
  let problem: unknown
  const stop = (error: unknown): void => {
    problem ??= error
    controller.abort(error)
  }

  const push: Send = (event) => {
    if (!isCritical(event)) return feed.push(event)
    return feed.pushSafely(event).catch((error: unknown) => stop(storeError(error)))
  }
  const giveUp = (event: AgUiEvent, error: unknown): Promise<void> | undefined => {
    stop(error)
    // A hook may have spoilt the event itself. Then there is nothing left to send.
    if (eventProblem(event) !== undefined) return undefined
    try {
      return push(event)
    } catch {
      return undefined
    }
  }
  const write = (event: AgUiEvent, changed: AgUiEvent): Promise<void> | undefined => {
    try {
      return push(changed)
    } catch (cause) {
      server.metrics.hookFailed({ hook: 'outputChange' })
      return giveUp(event, notWritable(event, cause))
    }
  }
  const pass: Send = (event) => {
    if (!outgoing) return push(event)
    let changed: ReturnType<Outgoing>
    try {
      changed = outgoing(event)
    } catch (error) {
      return giveUp(event, error)
    }
    if (!isPromise(changed)) return write(event, changed)
    return changed.then(
      (later) => write(event, later),
      (error: unknown) => giveUp(event, error),
    )
  }
  const send: Send = (event) => {
    if (event.type !== 'STATE_SNAPSHOT' && event.type !== 'STATE_DELTA') return pass(event)
    state ??= createFold({ state: plan.state })
    state.apply(event)
    const shown = stateRules.showEvent(event, state.state)
    return shown && pass(shown)
  }
  return {
    send(event) {
      if (event.type !== 'RUN_STARTED' || plan.opening.length === 0) return send(event)
      return sendAll([event, ...plan.opening], pass)
    },
    state: () => state?.state,
    problem: () => problem,
  }
}

/** What must not be forgotten once it is seen: a call that the client is going to carry out. */
function criticalEvents(tools: readonly { readonly name: string }[]): (event: AgUiEvent) => boolean {
  if (tools.length === 0) return () => false
  const clientTools = new Set(tools.map(({ name }) => name))
  const calls = new Set<string>()
  return (event) => {
    if (event.type === 'TOOL_CALL_START' && clientTools.has(event.toolCallName)) calls.add(event.toolCallId)
    return event.type === 'TOOL_CALL_END' && calls.has(event.toolCallId)
  }
}

async function sendAll(events: readonly AgUiEvent[], send: Send): Promise<void> {
  for (const event of events) await send(event)
}

function storeError(cause: unknown): MillraceError {
  if (MillraceError.isInstance(cause)) return cause
  return new MillraceError('STORE_ERROR', 'The log of the run cannot be written.', { cause })
}
