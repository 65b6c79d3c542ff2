import type { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { CallbackManager } from '@langchain/core/callbacks/manager'
import { isRecord } from '../../core/is-record.js'
import { currentConfig, currentRunId } from './current-run.js'
import type { GraphHandler } from './handler.js'

/** What the config of a graph is called in when it is run. */
export interface StreamConfigOptions {
  readonly config: Readonly<Record<string, unknown>>
  readonly handler: GraphHandler
  readonly signal: AbortSignal
}

/** The config for `graph.stream`: the user's, with callbacks and a writer of our own beside theirs. */
export function streamConfig({ config, handler, signal }: StreamConfigOptions): Record<string, unknown> {
  return {
    ...config,
    callbacks: withHandler(config.callbacks, handler),
    writer: createWriter(handler, config.writer),
    streamMode: ['values'],
    subgraphs: true,
    // Either would change the shape of the chunks.
    encoding: undefined,
    version: undefined,
    signal,
  }
}

function withHandler(callbacks: unknown, handler: BaseCallbackHandler): unknown {
  if (callbacks === undefined || callbacks === null) return [handler]
  if (Array.isArray(callbacks)) return [...(callbacks as unknown[]), handler]
  const manager = (callbacks as CallbackManager).copy()
  manager.addHandler(handler, true)
  return manager
}

/**
 * The writer that nodes and tools get. Whoever writes faster than the reader reads may await what it gives; nobody has
 * to.
 */
function createWriter(handler: GraphHandler, own: unknown): (value: unknown) => Promise<unknown> | undefined {
  return (value) => {
    if (typeof own === 'function') (own as (value: unknown) => void)(value)
    const config = currentConfig()
    const runId = config && currentRunId(config)
    if (isRecord(value) && typeof value.name === 'string' && 'payload' in value)
      return handler.handleCustomEvent(value.name, value.payload, runId)
    return handler.handleCustomEvent('langgraph.custom', value, runId)
  }
}
