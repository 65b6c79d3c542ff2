import type { RunnableConfig } from '@langchain/core/runnables'
import { copyCheckpoint, type BaseCheckpointSaver } from '@langchain/langgraph'
import { replaceMembers } from '../../core/replace-members.js'
import type { ServableGraph } from '../contract.js'
import { checkpointerOf } from './checkpoints.js'

/** The key by which LangGraph passes a checkpointer on. */
const checkpointerKey = '__pregel_checkpointer'

/**
 * A graph for one run whose readers share a read of its checkpoint: those before the run, and the graph itself when it
 * begins. Checkpointers read and parse the whole conversation each time, which takes long when it is long.
 */
export function withSharedReads(graph: ServableGraph): ServableGraph {
  const saver = checkpointerOf(graph)
  if (!saver) return graph
  const checkpointer = sharedReads(saver)
  const withSaver = (config: RunnableConfig = {}): RunnableConfig => ({
    ...config,
    configurable: { ...config.configurable, [checkpointerKey]: checkpointer },
  })
  const stream = (input: never, config?: RunnableConfig) => graph.stream(input, withSaver(config) as never)
  const getState = (config: RunnableConfig) => graph.getState(withSaver(config))
  return replaceMembers(graph, { checkpointer, stream, getState })
}

type SavedTuple = Awaited<ReturnType<BaseCheckpointSaver['getTuple']>>

/** The latest read holds until something is written. */
function sharedReads(saver: BaseCheckpointSaver): BaseCheckpointSaver {
  let latest: { readonly name: string; readonly tuple: Promise<SavedTuple> } | undefined
  const getTuple = async (config: RunnableConfig): Promise<SavedTuple> => {
    const name = checkpointName(config)
    if (latest?.name !== name) latest = { name, tuple: saver.getTuple(config) }
    const { tuple } = latest
    try {
      return ownTuple(await tuple)
    } catch (error) {
      if (latest.tuple === tuple) latest = undefined
      throw error
    }
  }
  const writing =
    <Args extends unknown[], Result>(write: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      latest = undefined
      try {
        return await write(...args)
      } finally {
        // What was read meanwhile may be older.
        latest = undefined
      }
    }
  return replaceMembers(saver, {
    getTuple,
    put: writing((...args: Parameters<BaseCheckpointSaver['put']>) => saver.put(...args)),
    putWrites: writing((...args: Parameters<BaseCheckpointSaver['putWrites']>) => saver.putWrites(...args)),
    deleteThread: writing((threadId: string) => saver.deleteThread(threadId)),
  })
}

function checkpointName({ configurable = {} }: RunnableConfig): string {
  const { thread_id, checkpoint_ns = '', checkpoint_id } = configurable as Record<string, unknown>
  return JSON.stringify([thread_id, checkpoint_ns, checkpoint_id])
}

/** LangGraph changes the checkpoints that it reads, but none of the values in them. */
function ownTuple(tuple: SavedTuple): SavedTuple {
  if (!tuple) return undefined
  const { checkpoint, pendingWrites } = tuple
  return {
    ...tuple,
    checkpoint: copyCheckpoint(checkpoint),
    ...(pendingWrites && { pendingWrites: [...pendingWrites] }),
  }
}
