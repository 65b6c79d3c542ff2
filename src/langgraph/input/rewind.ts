import type { RunnableConfig } from '@langchain/core/runnables'
import { copyCheckpoint, emptyCheckpoint, type BaseCheckpointSaver } from '@langchain/langgraph'
import { isRecord } from '../../core/is-record.js'
import { checkpointerOf, type MemoryGraph } from './memory-graph.js'

type Versions = Readonly<Record<string, number | string>>
type Saved = NonNullable<Awaited<ReturnType<BaseCheckpointSaver['getTuple']>>>

/**
 * Makes a checkpoint of the past the newest one, and gives the config to go on with. Nothing is lost: what came after it
 * stays in the history.
 *
 * It is put there as a copy whose versions are above all that were used. LangGraph would count on from the old ones,
 * and reach the versions of the branch that is given up: savers that keep values by their version, such as the one for
 * Postgres, would then give back the values of that branch (langgraphjs#1812).
 */
export async function rewind(
  graph: MemoryGraph,
  config: RunnableConfig,
  past: RunnableConfig,
): Promise<RunnableConfig> {
  const checkpointer = checkpointerOf(graph)
  const newest = await checkpointer?.getTuple(config)
  const saved = await checkpointer?.getTuple(past)
  // Values that are kept as a chain of changes belong to the place where they are.
  if (!checkpointer || !newest || !saved || hasDeltas(graph)) return past
  const top = Math.max(0, ...numbers(newest.checkpoint.channel_versions))
  const checkpoint = raised(saved, top)
  const { step = -1, parents = {} } = saved.metadata ?? {}
  const metadata = { source: 'fork' as const, step: step + 1, parents }
  await checkpointer.put(saved.config, checkpoint, metadata, checkpoint.channel_versions)
  return config
}

function raised({ checkpoint }: Saved, by: number): Saved['checkpoint'] {
  const { id, ts } = emptyCheckpoint()
  const copy = copyCheckpoint(checkpoint)
  const raise = (versions: Versions): Record<string, number | string> =>
    Object.fromEntries(
      // Savers that name versions by texts make each of them unique.
      Object.entries(versions).map(([key, version]) => [
        key,
        typeof version === 'number' ? version + by : version,
      ]),
    )
  const seen = Object.entries(copy.versions_seen).map(([node, versions]) => [node, raise(versions)] as const)
  return {
    ...copy,
    id,
    ts,
    channel_versions: raise(copy.channel_versions),
    versions_seen: Object.fromEntries(seen),
  }
}

function numbers(versions: Versions): number[] {
  return Object.values(versions).filter((version) => typeof version === 'number')
}

function hasDeltas({ channels }: MemoryGraph): boolean {
  return Object.values(channels).some(
    (channel) => isRecord(channel) && channel.lc_graph_name === 'DeltaChannel',
  )
}
