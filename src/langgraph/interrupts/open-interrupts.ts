import { BaseMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { checkpointerOf, savedState, storedMessages } from '../checkpoints/checkpoints.js'
import { storedInterrupts } from '../checkpoints/stored-interrupts.js'
import type { ServableGraph } from '../contract.js'
import { breakpointInterrupt, toResumableInterrupts, type ResumableInterrupt } from './to-interrupts.js'

/** The open interrupts of a graph, read from its checkpointer. Breakpoints are not among them. */
export async function openGraphInterrupts(
  graph: ServableGraph,
  config: RunnableConfig,
): Promise<readonly ResumableInterrupt[]> {
  const checkpointer = checkpointerOf(graph)
  const stored = checkpointer ? await storedInterrupts(checkpointer, config) : []
  if (stored.length === 0) return []
  const messages = storedMessages(await savedState(graph, config))
  return toResumableInterrupts(
    stored,
    messages.findLast((message) => BaseMessage.isInstance(message)),
  )
}

/** The breakpoint that stopped the graph. None when the graph is done. */
export async function openBreakpoint(
  graph: ServableGraph,
  config: RunnableConfig,
): Promise<readonly ResumableInterrupt[]> {
  const saved = await savedState(graph, config)
  if (!saved || saved.next.length === 0) return []
  const checkpointId = String(saved.config.configurable?.checkpoint_id ?? '')
  return [breakpointInterrupt({ next: saved.next, checkpointId })]
}

/**
 * The breakpoint of a graph that stopped for an unknown reason. A graph that failed or was cancelled also stops in
 * the middle, so this counts only where the graph was compiled to stop.
 */
export async function compiledBreakpoint(
  graph: ServableGraph,
  config: RunnableConfig,
): Promise<readonly ResumableInterrupt[]> {
  const { interruptBefore = [], interruptAfter = [] } = graph
  if (interruptBefore.length === 0 && interruptAfter.length === 0) return []
  const saved = await savedState(graph, config)
  if (!saved || saved.tasks.some(({ error }) => error !== undefined)) return []
  const isBefore = interruptBefore === '*' || saved.next.some((name) => interruptBefore.includes(name))
  return isBefore || interruptAfter.length > 0 ? openBreakpoint(graph, config) : []
}
