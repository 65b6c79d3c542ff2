import type { RunnableConfig } from '@langchain/core/runnables'
import { BaseCheckpointSaver, type StateSnapshot } from '@langchain/langgraph'

/** What is needed of a compiled graph to read and change what it remembers. */
export interface MemoryGraph {
  checkpointer?: BaseCheckpointSaver | boolean | undefined
  readonly channels: object
  getState(config: RunnableConfig): Promise<StateSnapshot>
  bulkUpdateState(
    config: RunnableConfig,
    supersteps: { updates: { values?: Record<string, unknown> | null; asNode?: string }[] }[],
  ): Promise<RunnableConfig>
}

/** Where a graph keeps its checkpoints. Undefined when it keeps none: `true` and `false` are for graphs inside others. */
export function checkpointerOf({
  checkpointer,
}: Pick<MemoryGraph, 'checkpointer'>): BaseCheckpointSaver | undefined {
  return typeof checkpointer === 'object' ? checkpointer : undefined
}
