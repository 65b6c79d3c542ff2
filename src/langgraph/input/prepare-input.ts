import { RemoveMessage, type BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { REMOVE_ALL_MESSAGES, START } from '@langchain/langgraph'
import { forkPoint, savedState, storedMessages } from './checkpoints.js'
import type { MemoryGraph } from './memory-graph.js'
import { planInput, type PlanOptions } from './plan-input.js'
import { rewind } from './rewind.js'

/** How a graph is started for a thread. */
export type PreparedInput =
  /** Messages for it: none when it shall go on where it has stopped. `values` is the state it starts from. */
  | {
      readonly type: 'run'
      readonly messages: readonly BaseMessage[] | undefined
      readonly config: RunnableConfig
      readonly values: unknown
    }
  /** These calls are still to be answered by the client. */
  | { readonly type: 'wait'; readonly toolCallIds: readonly string[] }

export interface PrepareOptions extends Omit<PlanOptions, 'stored'> {
  /** Where the graph has its messages. Default `messages`. */
  readonly key?: string
}

/**
 * Finds out what a graph has to be given so that it goes on with the thread. When the past was edited or cut, the graph
 * is taken back to before that.
 */
export async function prepareInput(
  graph: MemoryGraph,
  config: RunnableConfig,
  { key = 'messages', ...options }: PrepareOptions,
): Promise<PreparedInput> {
  let place = config
  let stored = await storedMessages(graph, config, key)
  let plan = planInput({ ...options, stored })
  while (plan.type === 'fork') {
    const point = await forkPoint(graph, place, { messageId: plan.before, key })
    if (!point) return await afresh(graph, config, options)
    place = point.config
    stored = point.messages
    // A graph may have had other messages then, with a summary in the place of some, for example.
    plan = planInput({ ...options, stored })
  }
  if (plan.type === 'wait') return plan
  if (place !== config) place = await rewind(graph, config, place)
  const saved = await savedState(graph, place)
  const values: unknown = saved?.values
  if (plan.type === 'input') return { type: 'run', messages: plan.messages, config: place, values }
  const isUnfinished = saved !== undefined && saved.next.length > 0 && !saved.next.includes(START)
  return { type: 'run', messages: isUnfinished ? undefined : [], config: place, values }
}

/** The whole thread in the place of what is there, for a past that is gone. */
async function afresh(
  graph: MemoryGraph,
  config: RunnableConfig,
  options: Omit<PlanOptions, 'stored'>,
): Promise<PreparedInput> {
  const plan = planInput({ ...options, stored: undefined })
  const messages = plan.type === 'input' ? plan.messages : []
  const values: unknown = (await savedState(graph, config))?.values
  const all = [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...messages]
  return { type: 'run', messages: all, config, values }
}
