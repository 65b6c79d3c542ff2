import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import type { RunnableConfig } from '@langchain/core/runnables'
import { randomIds } from '../core/ids.js'
import { shownOnlyId } from './messages/shown-only.js'
import { currentConfig, currentEmitTarget, currentRunId, type CurrentConfig } from './source/current-run.js'

/** Custom events with a fixed meaning, which do not become `CUSTOM` events. The official adapter has the same names. */
const reservedEvents = {
  message: 'manually_emit_message',
  state: 'manually_emit_state',
  toolCall: 'manually_emit_tool_call',
} as const

/**
 * Emits an event with a declared name and payload. Resolves when the queue has space, and never rejects: only code that
 * emits a lot needs to await it.
 */
export type Emitter<Events extends object> = <Name extends keyof Events & string>(
  name: Name,
  payload: Events[Name],
  config?: RunnableConfig,
) => Promise<void>

/**
 * Sends an event of the application's own to the client, as a `CUSTOM` event. Works in any node, tool or nested graph.
 * A payload that JSON cannot carry, undefined too, is reported and not sent. Resolves when the queue has space, and never
 * rejects: only code that emits a lot needs to await it.
 *
 * `config` is the one that the node or tool got. It is needed only where the async context is lost: in a worker or an
 * event listener that was there before the run.
 *
 * If something else runs the graph, the event goes to its writer (`streamMode: 'custom'`) as `{ name, payload }`, and
 * inside tools to `dispatchCustomEvent`. Outside of a graph, as in a unit test of a node, it does nothing.
 *
 * @example
 * async function drawChart(state: State) {
 *   void emit('display_chart', { kind: 'line', points: state.points })
 *   return { status: 'drawn' }
 * }
 */
export function emit(name: string, payload: unknown, config?: RunnableConfig): Promise<void> {
  const current = (config as CurrentConfig | undefined) ?? currentConfig()
  if (!current) return noWait
  const target = currentEmitTarget(current)
  if (target) return whenTaken(target.handleCustomEvent(name, payload, currentRunId(current)))
  if (current.writer) return whenTaken(current.writer({ name, payload }))
  return whenTaken(dispatchCustomEvent(name, payload, current as RunnableConfig))
}

/**
 * `emit` for events whose names and payloads are declared.
 *
 * @example
 * const emit = createEmitter<{ display_chart: { kind: 'line' | 'bar'; points: number[] } }>()
 */
export function createEmitter<Events extends object>(): Emitter<Events> {
  return emit
}

/** Shows the client a change of the state before the node ends: the keys of `patch` replace those it has. See `emit`. */
export function emitState(patch: Readonly<Record<string, unknown>>, config?: RunnableConfig): Promise<void> {
  return emit(reservedEvents.state, patch, config)
}

export interface EmitMessageOptions {
  /** Default: a new id. With the id of a message that the node returns, the client gets that message once. */
  readonly id?: string
  /** Default `assistant`. */
  readonly role?: 'assistant' | 'developer' | 'system' | 'user'
}

/** Shows the client a message that no model wrote. It does not become part of the graph's state. */
export function emitMessage(
  text: string,
  { id, role = 'assistant' }: EmitMessageOptions = {},
  config?: RunnableConfig,
): Promise<void> {
  return emit(
    reservedEvents.message,
    { message_id: id ?? shownOnlyId(randomIds()), message: text, role },
    config,
  )
}

/** A tool call to show. */
export interface EmittedToolCall {
  /** Default: a new id. */
  readonly id?: string
  readonly name: string
  readonly args: unknown
  /** The result, if it is known already. */
  readonly result?: unknown
}

/** Shows the client a tool call that no model made. It does not become part of the graph's state. */
export function emitToolCall({ id, ...call }: EmittedToolCall, config?: RunnableConfig): Promise<void> {
  return emit(reservedEvents.toolCall, { id: id ?? shownOnlyId(randomIds()), ...call }, config)
}

const noWait = Promise.resolve()

/** Never rejects: an event without a reader is no error of the node. */
function whenTaken(wait: unknown): Promise<void> {
  return wait instanceof Promise
    ? wait.then(
        () => undefined,
        () => undefined,
      )
    : noWait
}
