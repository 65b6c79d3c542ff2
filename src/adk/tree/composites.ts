import type { BaseAgent, Event, InvocationContext } from '@google/adk'
import { merge } from '../../core/merge.js'
import { internalsOf } from './agent-internals.js'
import { createOpenCalls, type OpenCalls } from './open-calls.js'
import type { Position } from './position.js'

/** What shells know of their tree. */
export interface Tree {
  readonly position: Position
  /** How often loops have gone round, those that are not done. */
  readonly iterations: Map<string, number>
  readonly shellOf: (agent: BaseAgent) => BaseAgent
}

type Run = (agent: BaseAgent, context: InvocationContext, tree: Tree) => AsyncGenerator<Event, void>

/** One after the other, until one pauses. Goes on with the one that had paused: those before it are done. */
export const runSequence: Run = async function* (agent, context, tree) {
  const goesOn = tree.position.enter(agent)
  for (const child of agent.subAgents.slice(goesOn ? resumedChild(agent, tree) : 0)) {
    if (context.abortSignal?.aborted) return
    if (yield* runChild(child, context, tree)) return
  }
}

/** Round after round, as ADK's: an escalation ends it after the agent it came from. */
export const runLoop: Run = async function* (agent, context, tree) {
  const { name, subAgents } = agent
  const goesOn = tree.position.enter(agent)
  let first = goesOn ? resumedChild(agent, tree) : 0
  let round = goesOn ? (tree.iterations.get(name) ?? 0) : 0
  for (; round < internalsOf(agent).maxIterations; round++) {
    tree.iterations.set(name, round)
    for (const child of subAgents.slice(first)) {
      const calls = createOpenCalls()
      if (yield* runChild(child, context, { ...tree, calls })) return
      if (context.abortSignal?.aborted) return
      if (calls.hasEscalated()) return void tree.iterations.delete(name)
    }
    first = 0
  }
  tree.iterations.delete(name)
}

/** All at once, each to its own end or pause. When the run goes on, only those that had paused and are answered. */
export const runParallel: Run = async function* (agent, context, tree) {
  const { enter, leadsToResumed, leadsToWaiting } = tree.position
  const lanes = enter(agent) ? agent.subAgents.filter(leadsToResumed) : agent.subAgents
  const calls = createOpenCalls()
  const starts = lanes.map((child) => (signal: AbortSignal) => {
    const abortSignal = AbortSignal.any(context.abortSignal ? [context.abortSignal, signal] : [signal])
    const branch = [context.branch, agent.name, child.name].filter(Boolean).join('.')
    return tree.shellOf(child).runAsync(context.clone({ branch, abortSignal }))
  })
  // What a lane throws after the merge has ended: the run has an error or has been left already.
  for await (const { value } of merge(starts, { onStrayError: () => undefined })) {
    if (context.abortSignal?.aborted) return
    calls.note(value)
    yield value
  }
  if (calls.isPaused() || leadsToWaiting(agent)) context.endInvocation = true
}

/** Straight to the one below that had paused. */
export const runResumedChild: Run = async function* (agent, context, tree) {
  const child = agent.subAgents[resumedChild(agent, tree)]
  if (child) yield* runChild(child, context, tree)
}

/** Runs a sub-agent. Whether it has paused: then its parent is at its end too, without its last callback. */
async function* runChild(
  child: BaseAgent,
  context: InvocationContext,
  { shellOf, position, calls = createOpenCalls() }: Tree & { readonly calls?: OpenCalls },
): AsyncGenerator<Event, boolean> {
  yield* noting(shellOf(child).runAsync(context), calls)
  const isPaused = calls.isPaused() || position.leadsToWaiting(child)
  if (isPaused) context.endInvocation = true
  return isPaused
}

/** The same events; the calls in them are noted before they are passed on. */
async function* noting(events: AsyncIterable<Event>, calls: OpenCalls): AsyncGenerator<Event, void> {
  for await (const event of events) {
    calls.note(event)
    yield event
  }
}

function resumedChild(agent: BaseAgent, { position }: Tree): number {
  return Math.max(0, agent.subAgents.findIndex(position.leadsToResumed))
}
