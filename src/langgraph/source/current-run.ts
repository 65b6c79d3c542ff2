import type { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { CallbackManager } from '@langchain/core/callbacks/manager'
import type { BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { AsyncLocalStorageProviderSingleton } from '@langchain/core/singletons'
import type { Clock } from '../../core/clock.js'

/** Marks the callback handler of this bridge among those of a run. The same symbol in every copy of the package. */
export const emitTarget = Symbol.for('millrace.langgraph.emit-target')

/** How long a call of a tool may take, and how large its result may be. */
export interface CallLimit {
  readonly timeoutMs: number
  readonly clock: Clock
  readonly maxBytes: number | undefined
  /** Notes a call that keeps to the limit by itself. */
  addLimited(toolCallId: string): void
}

/** Takes the custom events that the code of a graph emits. */
export interface EmitTarget {
  readonly [emitTarget]: true
  /** Undefined: calls of tools have no limits. */
  readonly callLimit?: CallLimit | undefined
  /** Returns the result that the thread has for a call: its tool is not executed again. */
  readonly keptResult?:
    ((graphId: string, callerId: string | undefined) => BaseMessage | undefined) | undefined
  /** Returns a promise while the reader is behind; it never rejects. */
  handleCustomEvent(name: string, value: unknown, runId: string | undefined): Promise<unknown> | undefined
}

/** The config that LangGraph keeps for the node or tool whose code is running. */
export interface CurrentConfig {
  readonly callbacks?: CallbackManager | readonly BaseCallbackHandler[]
  /** Missing inside tools and functions of LangChain, which does not pass it on. */
  readonly writer?: (value: unknown) => unknown
}

/** Undefined outside of a graph. */
export function currentConfig(): CurrentConfig | undefined {
  return AsyncLocalStorageProviderSingleton.getRunnableConfig() as CurrentConfig | undefined
}

/** The run of the node or tool whose code is running. */
export function currentRunId({ callbacks }: CurrentConfig): string | undefined {
  return callbacks && 'getParentRunId' in callbacks ? callbacks.getParentRunId() : undefined
}

/** The bridge that runs the graph: the innermost one, if a graph of another bridge is around. */
export function currentEmitTarget({ callbacks }: CurrentConfig): EmitTarget | undefined {
  const handlers = callbacks && 'handlers' in callbacks ? callbacks.handlers : callbacks
  return handlers?.findLast(isEmitTarget)
}

/** The bridge that runs a tool with this config. */
export function bridgeOfCall(config: RunnableConfig): EmitTarget | undefined {
  return currentEmitTarget(config as CurrentConfig)
}

function isEmitTarget<T extends object>(handler: T): handler is T & EmitTarget {
  return emitTarget in handler
}

/** Calls `start` without the current graph's context, so that a graph it starts is not nested. */
export function outsideOfGraphs<T>(start: () => T): T {
  return AsyncLocalStorageProviderSingleton.getInstance().run(undefined, start)
}
