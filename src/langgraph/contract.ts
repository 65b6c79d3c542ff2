import type { AgentCapabilities } from '@ag-ui/core'
import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { BaseCheckpointSaver, StateSnapshot } from '@langchain/langgraph'
import type {
  AgentLimits,
  HistoryRewriter,
  PredictStateMapping,
  RunContext,
  ThreadOwner,
} from '../agents/index.js'

/** A value, or a function that returns one for each run. */
export type PerRun<T> = T | ((ctx: RunContext) => T | Promise<T>)

/** Options for serving a graph. */
export interface LangGraphOptions {
  /** The agent's name. Default: the name the graph was compiled with. */
  readonly name?: string
  readonly description?: string
  /** Prompts that show what the agent is good for. */
  readonly examples?: readonly string[]
  readonly capabilities?: AgentCapabilities
  readonly limits?: AgentLimits
  /** Turns the conversation into the messages this agent reads. Default: messages of other agents become context. */
  readonly historyRewriter?: HistoryRewriter
  /** Passed on to the graph: `configurable`, `context`, `recursionLimit`, `callbacks`, `tags` and so on. */
  readonly config?: PerRun<Readonly<Record<string, unknown>>>
  /**
   * Maps a thread to a thread id of the checkpointer. Default: an id that no other agent and no other user has.
   * `({ threadId }) => threadId` shares threads with other users of the checkpointer; then ids must be hard to guess.
   */
  readonly threadId?: (thread: ThreadOwner) => string | Promise<string>
  /**
   * Keys of the state that clients neither see nor change. The server stores them, and its `server.state` and `initialState`
   * reach the graph. Messages are never part of the state that clients see.
   */
  readonly privateKeys?: readonly string[]
  /** Shows nested graphs as subagents with all their events, or by their steps alone. Default `subagents`. */
  readonly subgraphs?: 'subagents' | 'steps'
  /** Tool arguments that clients may show as state while the call is written. */
  readonly predictState?: readonly PredictStateMapping[]
}

/** The part of a compiled graph, an entrypoint or an agent of `langchain` that runs it. */
export interface StreamableGraph {
  stream(input: never, config?: never): Promise<AsyncIterable<unknown>>
}

/** The part of a compiled graph that describes its state. */
export interface StatefulGraph {
  readonly channels: object
  readonly builder?: unknown
}

/** The part of a compiled graph that reads and changes its checkpoints. */
export interface CheckpointedGraph extends StatefulGraph {
  checkpointer?: BaseCheckpointSaver | boolean | undefined
  getState(config: RunnableConfig, options?: { subgraphs?: boolean }): Promise<StateSnapshot>
  bulkUpdateState(
    config: RunnableConfig,
    supersteps: { updates: { values?: Record<string, unknown> | null; asNode?: string }[] }[],
  ): Promise<RunnableConfig>
}

/** The members of a compiled graph that this bridge uses. */
export interface ServableGraph extends StreamableGraph, CheckpointedGraph {
  readonly name?: string | undefined
  /** Static breakpoints: names of nodes, or `*` for all. */
  readonly interruptBefore?: readonly string[] | '*'
  readonly interruptAfter?: readonly string[] | '*'
}

/** A graph, and what all its runs share. */
export interface GraphSetup {
  readonly name: string
  readonly graph: ServableGraph
  readonly options: LangGraphOptions
}

/** A run of LangChain: a node, a nested graph, a model call or a tool. */
interface NativeRun {
  readonly runId: string
}

interface NativeRunStart extends NativeRun {
  /** The run around it. */
  readonly parentRunId: string | undefined
}

interface NativeRunError extends NativeRun {
  readonly error: unknown
  /** The graph has raised an interrupt, which is not a failure. */
  readonly isInterrupt: boolean
}

/** The native events of a graph, in the order in which they happen. */
export type GraphEvent =
  /** `ns` is the checkpoint namespace of the graph that has the node; empty for the root graph. */
  | ({ readonly type: 'node-start'; readonly node: string; readonly ns: string } & NativeRunStart)
  | ({ readonly type: 'node-end'; readonly output: unknown } & NativeRun)
  | ({ readonly type: 'node-error' } & NativeRunError)
  /** A nested graph: one that is a node, or one that a node or a tool calls. */
  | ({ readonly type: 'graph-start'; readonly name: string; readonly isNode: boolean } & NativeRunStart)
  | ({ readonly type: 'graph-end' } & NativeRun)
  | ({ readonly type: 'graph-error' } & NativeRunError)
  | ({
      readonly type: 'model-start'
      readonly provider: string | undefined
      readonly model: string | undefined
      /** The model has the tag `nostream` or `langsmith:nostream`. */
      readonly isHidden: boolean
      /** From `predict_state` in the metadata. */
      readonly predictState?: readonly PredictStateMapping[]
    } & NativeRunStart)
  | ({ readonly type: 'model-chunk'; readonly message: AIMessageChunk } & NativeRun)
  /** `message` is the whole message of the model. */
  | ({ readonly type: 'model-end'; readonly message: BaseMessage | undefined } & NativeRun)
  | ({ readonly type: 'model-error' } & NativeRunError)
  /**
   * `toolCallId` is absent when code of the graph calls the tool directly. `ns` is the checkpoint namespace of the node
   * that calls it. `input` is JSON text.
   */
  | ({
      readonly type: 'tool-start'
      readonly name: string
      readonly input: string
      readonly toolCallId: string | undefined
      readonly ns: string
    } & NativeRunStart)
  /** Partial output of a tool that is still running. */
  | ({ readonly type: 'tool-output'; readonly chunk: unknown } & NativeRun)
  | ({ readonly type: 'tool-end'; readonly output: unknown } & NativeRun)
  | ({ readonly type: 'tool-error' } & NativeRunError)
  /** From `emit`, `dispatchCustomEvent` or LangGraph's writer. */
  | {
      readonly type: 'custom'
      readonly name: string
      readonly value: unknown
      readonly runId: string | undefined
    }
  /** The state of the root graph after a step. */
  | { readonly type: 'values'; readonly values: Readonly<Record<string, unknown>> }
  | { readonly type: 'interrupts'; readonly interrupts: readonly GraphInterruption[] }
  /** Anything else that LangGraph sends: counted and ignored. */
  | { readonly type: 'unknown'; readonly name: string }

/** The native event of one type. */
export type GraphEventOf<T extends GraphEvent['type']> = Extract<GraphEvent, { type: T }>

/** An interrupt of LangGraph. */
export interface GraphInterruption {
  /** Not unique: successive interrupts of one node have the same id. */
  readonly id: string | undefined
  readonly value: unknown
  /** The checkpoint namespace that raised it; empty for the root graph. */
  readonly ns: readonly string[]
  /** The JSON Schema of the answer, if the graph has one. */
  readonly responseSchema?: unknown
}
