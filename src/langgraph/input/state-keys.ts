import { Overwrite } from '@langchain/langgraph'
import type { RunContext } from '../../agents/index.js'
import { isEqual, isRecord } from '../../core/json.js'
import type { LangGraphOptions, StatefulGraph } from '../contract.js'
import { toShownValue } from '../translate/visible-state.js'

/**
 * The keys that a graph takes as input: those of its input schema, whichever way it was written. For a graph that was
 * not made with StateGraph, all channels except LangGraph's own.
 */
export function inputKeys({ channels, builder }: StatefulGraph): ReadonlySet<string> {
  const definition = isRecord(builder) ? builder._inputDefinition : undefined
  if (isRecord(definition)) return new Set(Object.keys(definition))
  return new Set(
    Object.keys(channels).filter((name) => !name.startsWith('__') && !name.startsWith('branch:')),
  )
}

interface SplitState {
  /** The keys that the graph takes. */
  readonly known: Readonly<Record<string, unknown>>
  /** The client's own keys, which stay as they are. */
  readonly rest: Readonly<Record<string, unknown>>
}

/**
 * Whether the graph keeps a key to itself: it is private, and the owner of the run does not keep it from clients. Without
 * a server nobody does.
 */
export function keepsToItself(
  { privateKeys = [] }: Pick<LangGraphOptions, 'privateKeys'>,
  { services }: Pick<RunContext, 'services'>,
): (key: string) => boolean {
  return (key) => privateKeys.includes(key) && !services.isPrivateKey(key)
}

/** Splits the shared state into the graph's part and the client's own. Messages and keys that are left out are in neither. */
export function splitState(
  graph: StatefulGraph,
  state: unknown,
  isLeftOut: (key: string) => boolean = () => false,
): SplitState {
  const keys = inputKeys(graph)
  const isShared = (key: string): boolean => key !== 'messages' && !isLeftOut(key)
  const entries = isRecord(state) ? Object.entries(state).filter(([key]) => isShared(key)) : []
  return {
    known: Object.fromEntries(entries.filter(([key]) => keys.has(key))),
    rest: Object.fromEntries(entries.filter(([key]) => !keys.has(key))),
  }
}

/**
 * The update for a client's changes of the state. Clients send the whole state every time, and a reducer would
 * add it again and again. `values` is the state in the checkpoint; keys that are missing from `known` stay as they are.
 */
export function stateUpdate(
  graph: StatefulGraph,
  known: Readonly<Record<string, unknown>>,
  values: unknown,
): Record<string, unknown> {
  return overwriting(graph, Object.entries(changedValues(known, values)))
}

/** The values of `known` that differ from those of the graph's state, as clients see them. */
export function changedValues(
  known: Readonly<Record<string, unknown>>,
  values: unknown,
): Record<string, unknown> {
  const current = isRecord(values) ? values : {}
  const changed = Object.entries(known).filter(([key, value]) => !isEqual(value, toShownValue(current[key])))
  return Object.fromEntries(changed)
}

/** An update that replaces values, also those of channels with a reducer. */
export function overwriting(
  { channels }: StatefulGraph,
  entries: readonly (readonly [key: string, value: unknown])[],
): Record<string, unknown> {
  const update = entries.map(([key, value]) => {
    const channel: unknown = (channels as Record<string, unknown>)[key]
    const name = isRecord(channel) ? channel.lc_graph_name : undefined
    const hasReducer = name === 'BinaryOperatorAggregate' || name === 'DeltaChannel'
    return [key, hasReducer ? new Overwrite(value) : value] as const
  })
  return Object.fromEntries(update)
}
