import type { BaseAgent, Event, InvocationContext } from '@google/adk'
import { merge } from '../../core/merge.js'
import type { ResumePosition } from './agent-index.js'
import { internalsOf } from './agent-internals.js'

/** What all shells of a tree share. */
export interface ShellTree {
  readonly position: ResumePosition
  /** Completed rounds of the loops that are not done. */
  readonly iterations: Map<string, number>
  readonly shellOf: (agent: BaseAgent) => BaseAgent
}

type RunComposite = (
  agent: BaseAgent,
  context: InvocationContext,
  tree: ShellTree,
) => AsyncGenerator<Event, void>

/** Runs one child after the other until one waits. Resumes with the child that waited: those before it are done. */
export const runSequence: RunComposite = async function* (agent, context, tree) {
  const isResumed = tree.position.enter(agent)
  for (const child of agent.subAgents.slice(isResumed ? resumedChild(agent, tree) : 0)) {
    if (context.abortSignal?.aborted) return
    if (yield* runChild(child, context, tree)) return
  }
}

/** Runs round after round. As in ADK, an escalation ends the loop after the agent it came from. */
export const runLoop: RunComposite = async function* (agent, context, tree) {
  const { name, subAgents } = agent
  const isResumed = tree.position.enter(agent)
  let first = isResumed ? resumedChild(agent, tree) : 0
  let round = isResumed ? (tree.iterations.get(name) ?? 0) : 0
  for (; round < internalsOf(agent).maxIterations; round++) {
    tree.iterations.set(name, round)
    for (const child of subAgents.slice(first)) {
      const calls = new PendingCalls()
      if (yield* runChild(child, context, { ...tree, calls })) return
      if (context.abortSignal?.aborted) return
      if (calls.hasEscalated) return void tree.iterations.delete(name)
    }
    first = 0
  }
  tree.iterations.delete(name)
}

/** Runs all children at once, each until it ends or waits. Resumes only those that waited and are answered. */
export const runParallel: RunComposite = async function* (agent, context, tree) {
  const { enter, leadsToResumed, leadsToWaiting } = tree.position
  const children = enter(agent) ? agent.subAgents.filter(leadsToResumed) : agent.subAgents
  const calls = new PendingCalls()
  const starts = children.map((child) => (signal: AbortSignal) => {
    const abortSignal = AbortSignal.any(context.abortSignal ? [context.abortSignal, signal] : [signal])
    const branch = [context.branch, agent.name, child.name].filter(Boolean).join('.')
    return tree.shellOf(child).runAsync(context.clone({ branch, abortSignal }))
  })
  // Ignore errors after the end of the merge: the run has an error already, or no reader.
  for await (const { value } of merge(starts, { onStrayError: () => undefined })) {
    if (context.abortSignal?.aborted) return
    calls.record(value)
    yield value
  }
  if (calls.isWaiting || leadsToWaiting(agent)) context.endInvocation = true
}

/** Runs the child that waited. */
export const runResumedChild: RunComposite = async function* (agent, context, tree) {
  const child = agent.subAgents[resumedChild(agent, tree)]
  if (child) yield* runChild(child, context, tree)
}

/** Runs a sub-agent. Returns whether it waits: then its parent ends too, without its last callback. */
async function* runChild(
  child: BaseAgent,
  context: InvocationContext,
  { shellOf, position, calls = new PendingCalls() }: ShellTree & { readonly calls?: PendingCalls },
): AsyncGenerator<Event, boolean> {
  for await (const event of shellOf(child).runAsync(context)) {
    calls.record(event)
    yield event
  }
  const isWaiting = calls.isWaiting || position.leadsToWaiting(child)
  if (isWaiting) context.endInvocation = true
  return isWaiting
}

function resumedChild(agent: BaseAgent, { position }: ShellTree): number {
  return Math.max(0, agent.subAgents.findIndex(position.leadsToResumed))
}

/**
 * The long-running calls in a stream of events that have no result in it. While there is one, the agent that made it
 * waits. A long-running tool that returns at once, with a ticket for example, does not make it wait.
 */
export class PendingCalls {
  /** Whether an event has escalated, which ends the loop. */
  hasEscalated = false
  readonly #ids = new Set<string>()

  get isWaiting(): boolean {
    return this.#ids.size > 0
  }

  record({ longRunningToolIds, content, actions }: Event): void {
    this.hasEscalated ||= actions.escalate === true
    // Absent in events that were not made with ADK's `createEvent`.
    for (const id of (longRunningToolIds as readonly string[] | undefined) ?? []) this.#ids.add(id)
    for (const { functionResponse } of content?.parts ?? []) {
      if (functionResponse?.id !== undefined) this.#ids.delete(functionResponse.id)
    }
  }
}
