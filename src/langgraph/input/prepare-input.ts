import type { Message } from '@ag-ui/core'
import { RemoveMessage, type BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { REMOVE_ALL_MESSAGES, START, type StateSnapshot } from '@langchain/langgraph'
import {
  checkpointBefore,
  checkpointerOf,
  rewind,
  savedState,
  storedMessages,
} from '../checkpoints/checkpoints.js'
import { outsideChanges } from '../checkpoints/outside-changes.js'
import { removedMessages, unseenMessages } from '../checkpoints/marks.js'
import type { CheckpointedGraph } from '../contract.js'
import { readGraphMessages, toAgui } from '../messages/to-agui.js'
import { planInput, type InputPlan, type PlanOptions } from './plan-input.js'

/** The input that lets a graph continue a thread. */
export type PreparedInput =
  /** Without messages, the graph resumes where it has stopped. `values` is the state it starts from. */
  | {
      readonly type: 'run'
      readonly messages: readonly BaseMessage[] | undefined
      readonly config: RunnableConfig
      readonly values: unknown
      /** Set if the graph was rewound. */
      readonly rewound?: RewoundState
      /** The whole thread, if others have added messages to the checkpoint meanwhile. */
      readonly thread?: readonly Message[]
    }
  /** These tool calls still need a result from the client. */
  | { readonly type: 'wait'; readonly toolCallIds: readonly string[] }

/** The state that a rewound graph has left. */
interface RewoundState {
  readonly values: unknown
  /** The values that were set from outside since the checkpoint it goes back to. */
  readonly outside: Readonly<Record<string, unknown>>
}

export interface PrepareOptions extends Pick<PlanOptions, 'messages' | 'isClientTool'> {
  /** Whether other agents add to the thread while the graph runs. Default false. */
  readonly hasOthers?: boolean
  /** The key of the messages in the graph's state. Default `messages`. */
  readonly key?: string
}

/** Prepares a run: compares the thread with the checkpoint, and rewinds the graph if the past was edited or cut. */
export async function prepareGraphInput(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  { key = 'messages', hasOthers = false, ...rest }: PrepareOptions,
): Promise<PreparedInput> {
  const removed = hasOthers ? await removedMessages(graph, config) : undefined
  const options = { ...rest, ...(removed && { isUnheard: (id: string) => !removed.has(id) }) }
  const saved = await savedState(graph, config)
  const stored = checkpointerOf(graph) && storedMessages(saved, key)
  // Below other agents, it may run several times for one message.
  const answersAnew = !hasOthers && saved?.next.length === 0
  const plan = planInput({ ...options, stored, isUnfinished: isUnfinished(saved), answersAnew })
  if (plan.type === 'wait') return plan
  if (plan.type !== 'rewind') return toRun(plan, config, saved)
  const adopted = await adoptUnseen(graph, config, {
    ...{ ...options, stored, key, answersAnew },
    isUnfinished: isUnfinished(saved),
  })
  if (adopted?.plan.type === 'wait') return adopted.plan
  if (adopted)
    return { ...toRun(adopted.plan, config, saved), ...(adopted.thread && { thread: adopted.thread }) }
  return await rewound(graph, config, { ...options, key, stored, answersAnew })
}

function toRun(
  plan: Exclude<InputPlan, { type: 'rewind' | 'wait' }>,
  config: RunnableConfig,
  saved: StateSnapshot | undefined,
): Extract<PreparedInput, { type: 'run' }> {
  const values: unknown = saved?.values
  if (plan.type === 'input') return { type: 'run', messages: plan.messages, config, values }
  return { type: 'run', messages: isUnfinished(saved) ? undefined : [], config, values }
}

function isUnfinished(saved: StateSnapshot | undefined): boolean {
  return saved !== undefined && saved.next.length > 0 && !saved.next.includes(START)
}

interface Adopted {
  readonly plan: Exclude<InputPlan, { type: 'rewind' }>
  /** The thread with the messages that others have added. Undefined without any. */
  readonly thread: readonly Message[] | undefined
}

/**
 * Plans again for a thread that lacks only messages its clients never saw: no client has cut those off. Undefined if
 * the thread lacks others, or has changed some.
 */
async function adoptUnseen(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  { key, ...options }: PlanOptions & { readonly key: string },
): Promise<Adopted | undefined> {
  const { own, foreign } = await unseenMessages(graph, config, key)
  const plan = planInput({ ...options, isUnseen: (id) => own.has(id) || foreign.has(id) })
  if (plan.type === 'rewind') return undefined
  if (foreign.size === 0) return { plan, thread: undefined }
  const { messages, stored } = options
  const known = new Set(messages.map(({ id }) => id))
  const added = readGraphMessages(stored).filter(({ id }) => foreign.has(id))
  const shown = toAgui(added.map(({ message }) => message)).filter(({ id }) => !known.has(id))
  const position = firstNewIndex(messages, plan)
  return { plan, thread: [...messages.slice(0, position), ...shown, ...messages.slice(position)] }
}

/** The index of the first message that is new with this run. */
function firstNewIndex(messages: readonly Message[], plan: InputPlan): number {
  const added = new Set(plan.type === 'input' ? plan.messages.map(({ id }) => id) : [])
  const index = messages.findIndex(({ id }) => added.has(id))
  return index === -1 ? messages.length : index
}

interface RewindOptions extends PlanOptions {
  readonly key: string
}

/**
 * Rewinds the graph to the checkpoint before the first message that was edited or cut. Messages of the graph's own that
 * clients never saw stay where they stood.
 */
async function rewound(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  { key, stored, answersAnew = false, ...options }: RewindOptions,
): Promise<PreparedInput> {
  const { own } = await unseenMessages(graph, config, key)
  let target = config
  let plan = planInput({ ...options, stored, answersAnew, isUnseen: (id) => own.has(id) })
  while (plan.type === 'rewind') {
    const past = await checkpointBefore(graph, target, { messageId: plan.before, key })
    if (!past) return await replaceAll(graph, config, options)
    target = past.config
    const then = await unseenMessages(graph, target, key)
    const isUnseen = (id: string): boolean => own.has(id) || then.own.has(id)
    // The past checkpoint may have other messages, for example a summary in place of some.
    plan = planInput({ ...options, stored: past.messages, isUnseen, answersAnew: true })
  }
  if (plan.type === 'wait') return plan
  const values: unknown = (await savedState(graph, config))?.values
  const outside = await outsideChanges(graph, config, target)
  target = await rewind(graph, config, target)
  return { ...toRun(plan, target, await savedState(graph, target)), rewound: { values, outside } }
}

/** Replaces all messages by the whole thread: no checkpoint is old enough. */
async function replaceAll(
  graph: CheckpointedGraph,
  config: RunnableConfig,
  options: Omit<PlanOptions, 'stored'>,
): Promise<PreparedInput> {
  const plan = planInput({ ...options, stored: undefined })
  const messages = plan.type === 'input' ? plan.messages : []
  const values: unknown = (await savedState(graph, config))?.values
  const all = [new RemoveMessage({ id: REMOVE_ALL_MESSAGES }), ...messages]
  return { type: 'run', messages: all, config, values }
}
