import type { AIMessageChunk, BaseMessage } from '@langchain/core/messages'

/** Whose work an event is about: a run of LangChain, and the one it is part of. */
interface Work {
  readonly runId: string
  readonly parentRunId: string | undefined
}

/** The end of a work. */
interface WorkEnd {
  readonly runId: string
}

interface WorkError extends WorkEnd {
  readonly error: unknown
  /** The graph has stopped to ask: not a failure. */
  readonly isInterrupt: boolean
}

/**
 * All that is known of a graph at work, in the order in which it happened. This is the one place where the names stand;
 * what LangGraph may send besides is `unknown`, counted and left alone.
 */
export type GraphEvent =
  | ({ readonly type: 'node-start'; readonly node: string } & Work)
  | ({ readonly type: 'node-end'; readonly output: unknown } & WorkEnd)
  | ({ readonly type: 'node-error' } & WorkError)
  /** A graph inside the graph: a node of its own, or called by a node or a tool. */
  | ({ readonly type: 'graph-start'; readonly name: string; readonly isNode: boolean } & Work)
  | ({ readonly type: 'graph-end' } & WorkEnd)
  | ({ readonly type: 'graph-error' } & WorkError)
  | ({
      readonly type: 'model-start'
      readonly provider: string | undefined
      readonly model: string | undefined
      /** It was asked not to be shown (the tags `nostream` and `langsmith:nostream`). */
      readonly isHidden: boolean
    } & Work)
  | ({ readonly type: 'model-chunk'; readonly message: AIMessageChunk } & WorkEnd)
  /** `message` is the whole answer. */
  | ({ readonly type: 'model-end'; readonly message: BaseMessage | undefined } & WorkEnd)
  | ({ readonly type: 'model-error' } & WorkError)
  /** `toolCallId` is absent when code of the graph calls the tool by itself. `input` is JSON text. */
  | ({
      readonly type: 'tool-start'
      readonly name: string
      readonly input: string
      readonly toolCallId: string | undefined
    } & Work)
  /** A piece of what a tool gives while it works. */
  | ({ readonly type: 'tool-output'; readonly chunk: unknown } & WorkEnd)
  | ({ readonly type: 'tool-end'; readonly output: unknown } & WorkEnd)
  | ({ readonly type: 'tool-error' } & WorkError)
  /** From `emit`, `dispatchCustomEvent` or the writer of LangGraph. */
  | {
      readonly type: 'custom'
      readonly name: string
      readonly value: unknown
      readonly runId: string | undefined
    }
  /** The state of the whole graph, after a step. */
  | { readonly type: 'values'; readonly values: Readonly<Record<string, unknown>> }
  /** The graph has stopped to ask. `ns` says where: empty at its root. */
  | { readonly type: 'interrupts'; readonly interrupts: readonly GraphInterruption[] }
  | { readonly type: 'unknown'; readonly name: string }

/** A question as LangGraph has it. */
export interface GraphInterruption {
  /** Not unique: two questions of one node have the same, one after the other. */
  readonly id: string | undefined
  readonly value: unknown
  readonly ns: readonly string[]
  /** What an answer must look like, if the graph has said so. */
  readonly responseSchema?: unknown
}
