import type { Context, Tool } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { StatefulGraph } from '../contract.js'
import { inputKeys, overwriting } from '../input/state-keys.js'

/** What the client sends with a run beside messages and state, for the code of a graph. */
export interface ClientExtras {
  /** The client tools. */
  readonly tools: readonly Tool[]
  readonly context: readonly Context[]
  readonly forwardedProps?: unknown
}

/** A config that nodes and tools get, or the runtime that hooks of middleware get. */
export interface HasConfigurable {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
}

const configKey = 'ag-ui'

/** Adds the extras to `config.configurable`, where the code of the graph finds them. */
export function withClientExtras(
  configurable: Readonly<Record<string, unknown>>,
  extras: ClientExtras,
): Record<string, unknown> {
  return { ...configurable, [configKey]: extras }
}

/** Reads the extras from a config. They are empty if something else runs the graph. */
export function clientExtras(config: HasConfigurable | undefined): ClientExtras {
  const extras = config?.configurable?.[configKey]
  if (!isRecord(extras)) return { tools: [], context: [] }
  return {
    tools: Array.isArray(extras.tools) ? (extras.tools as Tool[]) : [],
    context: Array.isArray(extras.context) ? (extras.context as Context[]) : [],
    forwardedProps: extras.forwardedProps,
  }
}

/**
 * The extras as input for a graph whose state has the key `tools`, `ag-ui` or `copilotkit`. They replace what the client
 * has in its state there. In `tools` and `copilotkit.actions` the tools have the form that `bindTools` takes.
 */
export function extrasInput(
  graph: StatefulGraph,
  { tools, context, forwardedProps }: ClientExtras,
): Record<string, unknown> {
  const keys = inputKeys(graph)
  const callable = tools.map(({ name, description, parameters }) => ({
    type: 'function',
    name,
    function: { name, description, parameters: toolSchema(parameters) },
  }))
  const candidates = {
    tools: callable,
    'ag-ui': { tools, context, ...(forwardedProps === undefined ? {} : { forwardedProps }) },
    copilotkit: { actions: callable, context },
  }
  return overwriting(
    graph,
    Object.entries(candidates).filter(([key]) => keys.has(key)),
  )
}

/** The JSON Schema of a tool's parameters. A tool without parameters needs one too. */
export function toolSchema(parameters: unknown): Record<string, unknown> {
  return isRecord(parameters) ? parameters : { type: 'object', properties: {} }
}
