import type { Context, Tool } from '@ag-ui/core'
import { Overwrite } from '@langchain/langgraph'
import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import { jsonValue } from '../ask/json-value.js'

/** What is needed of a compiled graph to know its state. */
export interface StateGraphLike {
  readonly channels: object
  readonly builder?: unknown
}

/** Where the tools and the context of a run are found in `config.configurable`. */
export const configKey = 'ag-ui'

/**
 * The keys that a graph takes as input: those of its input schema, whichever way it was written. Of a graph that was not
 * made with a StateGraph, the channels that are not LangGraph's own.
 */
export function inputKeys({ channels, builder }: StateGraphLike): ReadonlySet<string> {
  const definition = isRecord(builder) ? builder._inputDefinition : undefined
  if (isRecord(definition)) return new Set(Object.keys(definition))
  return new Set(
    Object.keys(channels).filter((name) => !name.startsWith('__') && !name.startsWith('branch:')),
  )
}

interface SplitState {
  /** What the graph takes. */
  readonly known: Readonly<Record<string, unknown>>
  /** What it has no place for: the client's own, to be shown again as it is. */
  readonly rest: Readonly<Record<string, unknown>>
}

/** Tells the parts of the shared state apart that are the graph's and the client's own. Messages are in neither. */
export function splitState(state: unknown, keys: ReadonlySet<string>, messagesKey = 'messages'): SplitState {
  const entries = isRecord(state) ? Object.entries(state).filter(([key]) => key !== messagesKey) : []
  return {
    known: Object.fromEntries(entries.filter(([key]) => keys.has(key))),
    rest: Object.fromEntries(entries.filter(([key]) => !keys.has(key))),
  }
}

/**
 * What of a client's state is news to the graph, as an update: the client sends all of it back every time, and a reducer
 * would add it again and again. `values` is the state in the checkpoint; what is absent from `known` stays.
 */
export function stateUpdate(
  { channels }: StateGraphLike,
  known: Readonly<Record<string, unknown>>,
  values: unknown,
): Record<string, unknown> {
  const current = isRecord(values) ? values : {}
  const changed = Object.entries(known).filter(([key, value]) => !isEqual(value, jsonValue(current[key])))
  return Object.fromEntries(changed.map(([key, value]) => [key, replacing(channels, key, value)]))
}

/** Clients see the whole value and send the whole value: it takes the place of the old one. */
function replacing(channels: object, key: string, value: unknown): unknown {
  const channel: unknown = (channels as Record<string, unknown>)[key]
  const name = isRecord(channel) ? channel.lc_graph_name : undefined
  return name === 'BinaryOperatorAggregate' || name === 'DeltaChannel' ? new Overwrite(value) : value
}

/** A tool without parameters still needs a schema. */
function schemaOf(parameters: unknown): object {
  return isRecord(parameters) ? parameters : { type: 'object', properties: {} }
}

interface RunExtras {
  readonly tools: readonly Tool[]
  readonly context: readonly Context[]
}

/**
 * The tools of the client and the context of the run, for a graph whose state has a place for them: `tools`, `ag-ui` or
 * `copilotkit`. They win over what the client has in its state there. In `tools` and `copilotkit.actions` the tools are
 * as `bindTools` takes them.
 */
export function extrasInput(graph: StateGraphLike, { tools, context }: RunExtras): Record<string, unknown> {
  const keys = inputKeys(graph)
  const callable = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    function: { name, description, parameters: schemaOf(parameters) },
  }))
  const candidates = {
    tools: callable,
    'ag-ui': { tools, context },
    copilotkit: { actions: callable, context },
  }
  const taken = Object.entries(candidates).filter(([key]) => keys.has(key))
  return Object.fromEntries(taken.map(([key, value]) => [key, replacing(graph.channels, key, value)]))
}
