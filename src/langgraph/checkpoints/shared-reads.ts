import type { RunnableConfig } from '@langchain/core/runnables'
import { copyCheckpoint, type BaseCheckpointSaver } from '@langchain/langgraph'
import { replaceMembers } from '../../core/replace-members.js'
import type { ServableGraph } from '../contract.js'
import { checkpointerOf } from './checkpoints.js'

/** The key by which LangGraph passes a checkpointer on. */
const checkpointerKey = '__pregel_checkpointer'

/**
 * A graph for one run whose readers share a read of its checkpoint: those before the run, and the graph itself when it
 * begins. Those after it get what the graph has written. Checkpointers read and parse the whole conversation each time,
 * which takes long when it is long.
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
  const getState: ServableGraph['getState'] = (config, options) => graph.getState(withSaver(config), options)
  return replaceMembers(graph, { checkpointer, stream, getState })
}

type SavedTuple = Awaited<ReturnType<BaseCheckpointSaver['getTuple']>>

/** The latest checkpoint that was read or written. It holds until something else is written. */
function sharedReads(saver: BaseCheckpointSaver): BaseCheckpointSaver {
  let latest: { readonly name: string; readonly tuple: Promise<SavedTuple> } | undefined
  let writes = 0
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
  /** Returns whether nothing else was written meanwhile. */
  const write = async (work: () => Promise<unknown>): Promise<boolean> => {
    const own = ++writes
    latest = undefined
    try {
      await work()
    } finally {
      // What was read meanwhile may be older.
      latest = undefined
    }
    return own === writes
  }
  const put = async (...args: Parameters<BaseCheckpointSaver['put']>): Promise<RunnableConfig> => {
    const [parent, checkpoint, metadata] = args
    // The graph goes on to change its own.
    const kept = copyCheckpoint(checkpoint)
    let config: RunnableConfig = {}
    const isLatest = await write(async () => (config = await saver.put(...args)))
    // The first checkpoint of a thread has none before it.
    const parentConfig = parent.configurable?.checkpoint_id === undefined ? {} : { parentConfig: parent }
    const tuple = { config, checkpoint: kept, metadata, ...parentConfig, pendingWrites: [] }
    if (isLatest) latest = { name: newestName(config), tuple: Promise.resolve(tuple) }
    return config
  }
  return replaceMembers(saver, {
    getTuple,
    put,
    putWrites: async (...args: Parameters<BaseCheckpointSaver['putWrites']>) => {
      await write(() => saver.putWrites(...args))
    },
    deleteThread: async (threadId: string) => {
      await write(() => saver.deleteThread(threadId))
    },
  })
}

/** The name of the newest checkpoint beside another one. */
function newestName({ configurable = {} }: RunnableConfig): string {
  const { checkpoint_id: _, ...newest } = configurable as Record<string, unknown>
  return checkpointName({ configurable: newest })
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
