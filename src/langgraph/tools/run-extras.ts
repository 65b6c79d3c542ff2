import type { Context, Tool } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { configKey } from '../input/state-keys.js'

/** What a run brings along for the code of a graph. */
export interface RunExtras {
  /** The tools that the client offers. */
  readonly tools: readonly Tool[]
  readonly context: readonly Context[]
}

/** What of a config is needed: nodes and tools get one, and so do the hooks of middleware as their runtime. */
export interface HasConfigurable {
  readonly configurable?: Readonly<Record<string, unknown>> | undefined
}

/** Puts what a run brings along where the code of the graph finds it. */
export function withRunExtras(
  configurable: Readonly<Record<string, unknown>>,
  extras: RunExtras,
): Record<string, unknown> {
  return { ...configurable, [configKey]: extras }
}

/** What the run has brought along: nothing when the graph is run by something else. */
export function runExtras(config: HasConfigurable | undefined): RunExtras {
  const extras = config?.configurable?.[configKey]
  if (!isRecord(extras)) return { tools: [], context: [] }
  return {
    tools: Array.isArray(extras.tools) ? (extras.tools as Tool[]) : [],
    context: Array.isArray(extras.context) ? (extras.context as Context[]) : [],
  }
}
