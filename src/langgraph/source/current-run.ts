import type { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { CallbackManager } from '@langchain/core/callbacks/manager'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import { listening, type Listener } from './listener.js'

/** The config of the code that calls: what LangGraph keeps for its nodes and tools. */
export interface CurrentConfig {
  readonly callbacks?: CallbackManager | readonly BaseCallbackHandler[]
  /** Missing inside tools and functions of LangChain: it does not hand it down to them. */
  readonly writer?: (value: unknown) => unknown
}

/** Undefined outside of a graph. */
export function currentConfig(): CurrentConfig | undefined {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig() as CurrentConfig | undefined
}

/** The node or the tool whose code calls. */
export function currentRunId({ callbacks }: CurrentConfig): string | undefined {
  return callbacks && 'getParentRunId' in callbacks ? callbacks.getParentRunId() : undefined
}

/** The bridge that runs the graph. The innermost one, should there be a graph of another bridge around. */
export function currentListener({ callbacks }: CurrentConfig): Listener | undefined {
  const handlers = callbacks && 'handlers' in callbacks ? callbacks.handlers : callbacks
  return handlers?.findLast(isListener)
}

function isListener<T extends object>(handler: T): handler is T & Listener {
  return listening in handler
}

/** Calls `work` as if no graph were around, so that what it starts is a graph of its own. */
export function outsideOfGraphs<T>(work: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run(undefined, work)
}
