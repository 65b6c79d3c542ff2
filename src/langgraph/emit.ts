import { dispatchCustomEvent } from '@langchain/core/callbacks/dispatch'
import type { RunnableConfig } from '@langchain/core/runnables'
import { MillraceError } from '../core/errors.js'
import { randomIds } from '../core/ids.js'
import { currentConfig, currentListener, currentRunId } from './source/current-run.js'

/** Events that a client gets some other way than as a `CUSTOM` event. The names are those of the official adapter. */
const reservedEvents = {
  message: 'manually_emit_message',
  state: 'manually_emit_state',
  toolCall: 'manually_emit_tool_call',
} as const

/**
 * Sends an event of a kind that was declared. Resolves when there is room for more, and never rejects: code that sends
 * a lot should await it, all other code need not.
 */
export type Emitter<Events extends object> = <Name extends keyof Events & string>(
  name: Name,
  payload: Events[Name],
) => Promise<void>

/**
 * Sends an event of the application's own to the client, as a `CUSTOM` event, from any node, tool or graph inside a
 * graph; no config is passed. The payload must be JSON. Resolves when there is room for more, and never rejects: code
 * that sends a lot should await it, all other code need not.
 *
 * A graph that somebody else runs gives the event to its writer (`streamMode: 'custom'`) as `{ name, payload }`, and
 * inside of tools to `dispatchCustomEvent`. Throws a `MillraceError` with the code `INVALID_AGENT` outside of a graph.
 *
 * @example
 * async function drawChart(state: State) {
 *   void emit('display_chart', { kind: 'line', points: state.points })
 *   return { status: 'drawn' }
 * }
 */
export function emit(name: string, payload: unknown): Promise<void> {
  const config = currentConfig()
  if (!config)
    throw new MillraceError(
      'INVALID_AGENT',
      `emit('${name}') was called outside of a graph. Call it in a node or a tool while the graph runs.`,
      { details: { name } },
    )
  // An event without a value is not one of AG-UI.
  const value = payload ?? null
  const listener = currentListener(config)
  if (listener) return whenTaken(listener.handleCustomEvent(name, value, currentRunId(config)))
  if (config.writer) return whenTaken(config.writer({ name, payload: value }))
  return whenTaken(dispatchCustomEvent(name, value, config as RunnableConfig))
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

/** Shows the client a change of the state before the node has ended: `patch` over what it has. Otherwise as `emit`. */
export function emitState(patch: Readonly<Record<string, unknown>>): Promise<void> {
  return emit(reservedEvents.state, patch)
}

export interface EmitMessageOptions {
  /** Default: one that is new. With the id of a message that the node returns, the client has it once. */
  readonly id?: string
  /** Default `assistant`. */
  readonly role?: 'assistant' | 'developer' | 'system' | 'user'
}

/** Shows the client a message that no model has written. It does not become part of the graph's state. */
export function emitMessage(
  text: string,
  { id, role = 'assistant' }: EmitMessageOptions = {},
): Promise<void> {
  return emit(reservedEvents.message, { message_id: id ?? randomIds(), message: text, role })
}

/** A tool call to show. */
export interface EmittedToolCall {
  /** Default: one that is new. */
  readonly id?: string
  readonly name: string
  readonly args: unknown
  /** What came out of it, if that is known already. */
  readonly result?: unknown
}

/** Shows the client a tool call that no model has made. It does not become part of the graph's state. */
export function emitToolCall({ id, ...call }: EmittedToolCall): Promise<void> {
  return emit(reservedEvents.toolCall, { id: id ?? randomIds(), ...call })
}

const taken = Promise.resolve()

function whenTaken(room: unknown): Promise<void> {
  return room instanceof Promise ? room.then(done, done) : taken
}

function done(): void {
  // Whether anybody took it is nothing that a node should bother with.
}
