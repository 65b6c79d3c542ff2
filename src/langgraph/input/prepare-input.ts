import type { Message } from '@ag-ui/core'
import { RemoveMessage, type BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { REMOVE_ALL_MESSAGES, START, type StateSnapshot } from '@langchain/langgraph'
import { adopt } from './adopt.js'
import { forkPoint, messagesOf, savedState } from './checkpoints.js'
import { goneMessages } from './marks.js'
import { checkpointerOf, type MemoryGraph } from './memory-graph.js'
import { planInput, type InputPlan, type PlanOptions } from './plan-input.js'
import { rewind } from './rewind.js'

/** How a graph is started for a thread. */
export type PreparedInput =
  /** Messages for it: none when it shall go on where it has stopped. `values` is the state it starts from. */
  | {
      readonly type: 'run'
      readonly messages: readonly BaseMessage[] | undefined
      readonly config: RunnableConfig
      readonly values: unknown
      /** The thread with what others have said meanwhile, when they have. */
      readonly thread?: readonly Message[]
    }
  /** These calls are still to be answered by the client. */
  | { readonly type: 'wait'; readonly toolCallIds: readonly string[] }

export interface PrepareOptions extends Pick<PlanOptions, 'messages' | 'isClientTool'> {
  /** Whether others talk in the thread while the graph is at work. Default false. */
  readonly hasOthers?: boolean
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
  { key = 'messages', hasOthers = false, ...given }: PrepareOptions,
): Promise<PreparedInput> {
  const gone = hasOthers ? await goneMessages(graph, config) : undefined
  const options = { ...given, ...(gone && { isUnheard: (id: string) => !gone.has(id) }) }
  const saved = await savedState(graph, config)
  const stored = checkpointerOf(graph) && messagesOf(saved, key)
  const plan = planInput({ ...options, stored })
  if (plan.type === 'wait') return plan
  if (plan.type !== 'fork') return start(plan, config, saved)
  const adopted = await adopt(graph, config, { ...options, stored, key })
  if (adopted?.plan.type === 'wait') return adopted.plan
  if (adopted)
    return { ...start(adopted.plan, config, saved), ...(adopted.thread && { thread: adopted.thread }) }
  return await fork(graph, config, { ...options, key, plan })
}

type Startable = Exclude<InputPlan, { type: 'fork' | 'wait' }>
type Run = Extract<PreparedInput, { type: 'run' }>

function start(plan: Startable, config: RunnableConfig, saved: StateSnapshot | undefined): Run {
  const values: unknown = saved?.values
  if (plan.type === 'input') return { type: 'run', messages: plan.messages, config, values }
  const isUnfinished = saved !== undefined && saved.next.length > 0 && !saved.next.includes(START)
  return { type: 'run', messages: isUnfinished ? undefined : [], config, values }
}

interface ForkOptions extends Omit<PlanOptions, 'stored'> {
  readonly key: string
  readonly plan: InputPlan
}

/** Goes back to before what is not as it was. */
async function fork(
  graph: MemoryGraph,
  config: RunnableConfig,
  { key, plan: first, ...options }: ForkOptions,
): Promise<PreparedInput> {
  let place = config
  let plan = first
  while (plan.type === 'fork') {
    const point = await forkPoint(graph, place, { messageId: plan.before, key })
    if (!point) return await afresh(graph, config, options)
    place = point.config
    // A graph may have had other messages then, with a summary in the place of some, for example.
    plan = planInput({ ...options, stored: point.messages })
  }
  if (plan.type === 'wait') return plan
  place = await rewind(graph, config, place)
  return start(plan, place, await savedState(graph, place))
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
