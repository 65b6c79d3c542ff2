import type { RunnableConfig } from '@langchain/core/runnables'
import { checkpointerOf } from '../checkpoints/checkpoints.js'
import { storedInterrupts, takeBackAnswers } from '../checkpoints/stored-interrupts.js'
import type { GraphEvent, ServableGraph } from '../contract.js'
import { openBreakpoint } from '../interrupts/open-interrupts.js'
import { raisedInterruptIds, type ResumableInterrupt } from '../interrupts/to-interrupts.js'

/** One `graph.stream`, and what it has done so far. */
export class GraphAttempt {
  /** The interrupts that it began with answers to. */
  readonly answered: readonly ResumableInterrupt[]
  /** The checkpoint namespaces of the graphs that it has entered. */
  readonly namespaces = new Set([''])
  /** LangGraph's ids of the interrupts that it has raised. */
  readonly raised = new Set<string>()
  hasBegun = false
  isInterrupted = false
  /** False when it failed or was cancelled. */
  hasEnded = false

  constructor(answered: readonly ResumableInterrupt[] = []) {
    this.answered = answered
  }

  note(event: GraphEvent): void {
    if (event.type === 'node-start') {
      this.hasBegun = true
      this.namespaces.add(event.ns)
    } else if (event.type === 'node-error' && event.isInterrupt)
      for (const id of raisedInterruptIds(event.error)) this.raised.add(id)
    else if (event.type === 'interrupts') this.isInterrupted = true
  }
}

/**
 * Takes back the answers of an attempt that failed or was cancelled: their interrupts are open, and take other answers.
 * Returns the ids of those that the graph is past: they stay answered.
 */
export async function takeBackLostAnswers(
  graph: ServableGraph,
  config: RunnableConfig,
  { answered, namespaces, raised }: GraphAttempt,
): Promise<ReadonlySet<string>> {
  const checkpointer = checkpointerOf(graph)
  if (!checkpointer || answered.length === 0) return new Set()
  const lost = answered.flatMap((entry) =>
    entry.kind === 'breakpoint' || entry.graphId === undefined || raised.has(entry.graphId)
      ? []
      : [[entry.graphId, entry.answersBefore] as const],
  )
  await takeBackAnswers(checkpointer, config, { answersBefore: new Map(lost), namespaces })
  const stored = new Set((await storedInterrupts(checkpointer, config)).map(({ id }) => id))
  const [breakpoint] = await openBreakpoint(graph, config)
  const past = answered.filter((entry) => {
    if (entry.kind === 'breakpoint') return entry.interrupt.id !== breakpoint?.interrupt.id
    return !stored.has(entry.graphId) || (entry.graphId !== undefined && raised.has(entry.graphId))
  })
  return new Set(past.map(({ interrupt }) => interrupt.id))
}
