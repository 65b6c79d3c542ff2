import type { Message } from '@ag-ui/core'
import type { RunnableConfig } from '@langchain/core/runnables'
import { unseenMessages } from './marks.js'
import type { MemoryGraph } from './memory-graph.js'
import { planInput, type InputPlan, type PlanOptions } from './plan-input.js'
import { readMessages, toAgui } from './to-agui.js'

/** A thread that the graph knows more of than clients do. */
export interface Adopted {
  readonly plan: Exclude<InputPlan, { type: 'fork' }>
  /** The thread with what was said elsewhere, in its place. Undefined when nothing was. */
  readonly thread: readonly Message[] | undefined
}

/**
 * Finds out whether the thread lacks only messages that clients have never seen: nobody has cut those off. Undefined when
 * it lacks others, or has changed some.
 */
export async function adopt(
  graph: MemoryGraph,
  config: RunnableConfig,
  { key, ...options }: PlanOptions & { readonly key: string },
): Promise<Adopted | undefined> {
  const { own, foreign } = await unseenMessages(graph, config, key)
  const plan = planInput({ ...options, isUnseen: (id) => own.has(id) || foreign.has(id) })
  if (plan.type === 'fork') return undefined
  if (foreign.size === 0) return { plan, thread: undefined }
  const { messages, stored } = options
  const held = new Set(messages.map(({ id }) => id))
  const said = readMessages(stored).filter(({ id }) => foreign.has(id))
  const added = toAgui(said.map(({ message }) => message)).filter(({ id }) => !held.has(id))
  const place = firstNew(messages, plan)
  return { plan, thread: [...messages.slice(0, place), ...added, ...messages.slice(place)] }
}

/** Where the news of this run begin. */
function firstNew(messages: readonly Message[], plan: InputPlan): number {
  const fresh = new Set(plan.type === 'input' ? plan.messages.map(({ id }) => id) : [])
  const place = messages.findIndex(({ id }) => fresh.has(id))
  return place === -1 ? messages.length : place
}
