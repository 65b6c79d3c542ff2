import type { RunnableConfig } from '@langchain/core/runnables'
import { Overwrite, START, type BaseCheckpointSaver, type StateSnapshot } from '@langchain/langgraph'
import { isEqual, isRecord } from '../../core/json.js'
import type { CheckpointedGraph } from '../contract.js'
import { inputKeys } from '../input/state-keys.js'
import { toShownValue } from '../translate/visible-state.js'
import { checkpointerOf, savedState } from './checkpoints.js'

type Values = Readonly<Record<string, unknown>>

/**
 * The values of the state that were set from outside since a past checkpoint: by a client, with a message, an answer or
 * without a run, or by `updateState`. What the nodes of the graph have set is not among them.
 */
export async function outsideChanges(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  past: RunnableConfig,
): Promise<Values> {
  const checkpointer = checkpointerOf(graph)
  const keys = [...inputKeys(graph)].filter((key) => key !== 'messages')
  const changes = new Map<string, unknown>()
  let child = await savedState(graph, config)
  // From the newest to the oldest: the latest change of a key counts.
  while (checkpointer && child?.parentConfig && checkpointId(child.config) !== checkpointId(past)) {
    const parent: StateSnapshot = await graph.getState(child.parentConfig)
    const written = {
      ...setBetween(parent, child, keys),
      ...(await setWithAnswers(checkpointer, parent, keys)),
    }
    for (const [key, value] of Object.entries(written)) if (!changes.has(key)) changes.set(key, value)
    child = parent
  }
  return Object.fromEntries(changes)
}

function checkpointId({ configurable }: RunnableConfig): unknown {
  return configurable?.checkpoint_id
}

/** The values that an input or an update has changed. None if the child was made by nodes of the graph. */
function setBetween(parent: StateSnapshot, child: StateSnapshot, keys: readonly string[]): Values {
  const isInput = parent.metadata?.source === 'input' && parent.next.includes(START)
  if (!isInput && child.metadata?.source !== 'update') return {}
  const [before, after] = [valuesOf(parent), valuesOf(child)]
  const changed = keys.filter((key) => !isEqual(toShownValue(after[key]), toShownValue(before[key])))
  return Object.fromEntries(changed.map((key) => [key, after[key]]))
}

function valuesOf({ values }: StateSnapshot): Values {
  return isRecord(values) ? values : {}
}

/** The task whose writes LangGraph applies before it runs any node: the `update` of a Command that resumes the graph. */
const noTask = '00000000-0000-0000-0000-000000000000'

async function setWithAnswers(
  checkpointer: BaseCheckpointSaver,
  { config }: StateSnapshot,
  keys: readonly string[],
): Promise<Values> {
  const writes = (await checkpointer.getTuple(config))?.pendingWrites ?? []
  const own = writes.filter(([task, channel]) => task === noTask && keys.includes(channel))
  return Object.fromEntries(own.map(([, channel, value]) => [channel, overwritten(value)]))
}

function overwritten(value: unknown): unknown {
  if (Overwrite.isInstance(value)) return value.value
  return isRecord(value) && '__overwrite__' in value ? value.__overwrite__ : value
}
