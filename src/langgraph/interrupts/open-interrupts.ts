import type { RunnableConfig } from '@langchain/core/runnables'
import type { StateSnapshot } from '@langchain/langgraph'
import { checkpointerOf, savedState, storedMessages } from '../checkpoints/checkpoints.js'
import { storedInterrupts } from '../checkpoints/stored-interrupts.js'
import type { ServableGraph } from '../contract.js'
import { makesCall } from '../messages/call-ids.js'
import { readGraphMessages } from '../messages/to-agui.js'
import { breakpointInterrupt, toResumableInterrupts, type ResumableInterrupt } from './to-interrupts.js'

/** Returns the id that clients have for a call, by the graph's own id and the message that made it, if it is known. */
export type ShownCallId = (graphId: string, messageId: string | undefined) => string

/** The open interrupts of a graph, read from its checkpointer. Breakpoints are not among them. */
export async function openGraphInterrupts(
  graph: ServableGraph,
  config: RunnableConfig,
  shownCallId: ShownCallId,
): Promise<readonly ResumableInterrupt[]> {
  const checkpointer = checkpointerOf(graph)
  const stored = checkpointer ? await storedInterrupts(checkpointer, config) : []
  if (stored.length === 0) return []
  const saved = await savedState(graph, config)
  const isNested = saved?.tasks.some(({ state }) => state !== undefined) === true
  const messagesOf = messagesByInterrupt(isNested ? await graph.getState(config, { subgraphs: true }) : saved)
  return toResumableInterrupts(stored, (id) => messagesOf(id).at(-1)?.message).map((entry) => {
    const { toolCallId } = entry.interrupt
    if (entry.kind === 'breakpoint' || toolCallId === undefined) return entry
    const caller = messagesOf(entry.graphId).findLast(({ message }) => makesCall(message, toolCallId))
    return withCallId(entry, shownCallId(toolCallId, caller?.id))
  })
}

type GraphMessages = ReturnType<typeof readGraphMessages>

/** The messages of the graph that raised an interrupt, which may be inside another one and have messages of its own. */
function messagesByInterrupt(
  saved: StateSnapshot | undefined,
): (interruptId: string | undefined) => GraphMessages {
  const messages = readGraphMessages(storedMessages(saved))
  const nested = new Map<string, GraphMessages>()
  const read = ({ tasks }: StateSnapshot): void => {
    for (const { state } of tasks)
      if (state && 'tasks' in state) {
        const inner = readGraphMessages(storedMessages(state))
        for (const { id } of state.tasks.flatMap(({ interrupts }) => interrupts))
          if (id !== undefined) nested.set(id, inner)
        // The innermost has raised it.
        read(state)
      }
  }
  if (saved) read(saved)
  return (id) => (id === undefined ? undefined : nested.get(id)) ?? messages
}

function withCallId(entry: ResumableInterrupt, toolCallId: string): ResumableInterrupt {
  const interrupt = { ...entry.interrupt, toolCallId }
  const isClientCall = entry.kind === 'value' && entry.clientCallId !== undefined
  return isClientCall ? { ...entry, interrupt, clientCallId: toolCallId } : { ...entry, interrupt }
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
