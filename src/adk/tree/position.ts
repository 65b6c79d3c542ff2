import type { BaseAgent } from '@google/adk'
import type { AgentIndex } from './agent-index.js'

/** Where a run goes on in a tree. Speaks of the user's agents, not of their shells. */
export interface Position {
  /** Whether the run goes on at all, rather than begin. */
  readonly isResumed: boolean
  /** Whether this agent had paused and goes on. */
  readonly resumes: (agent: BaseAgent) => boolean
  /** Whether this agent, or one below it, had paused and goes on. */
  readonly leadsToResumed: (agent: BaseAgent) => boolean
  /** Whether this agent, or one below it, is paused and stays so in this run. */
  readonly leadsToWaiting: (agent: BaseAgent) => boolean
  /** To be called when an agent begins. Whether it goes on this time: at most once, later it starts anew. */
  readonly enter: (agent: BaseAgent) => boolean
}

export interface PositionOptions {
  readonly resumeAt: readonly string[]
  readonly waitingAt?: readonly string[]
}

export function createPosition(index: AgentIndex, { resumeAt, waitingAt = [] }: PositionOptions): Position {
  const resumed = new Set(resumeAt.flatMap(index.writing))
  const path = withAncestors(resumed)
  const waiting = withAncestors(waitingAt.flatMap(index.writing))
  const ahead = new Set(path)
  return {
    isResumed: resumed.size > 0,
    resumes: (agent) => resumed.has(agent),
    leadsToResumed: (agent) => path.has(agent),
    leadsToWaiting: (agent) => waiting.has(agent),
    enter(agent) {
      const goesOn = ahead.has(agent)
      // Those above count as entered too: a run may begin below them, and come to them by a transfer.
      for (const entered of ancestry(agent)) ahead.delete(entered)
      return goesOn
    },
  }
}

function withAncestors(agents: Iterable<BaseAgent>): ReadonlySet<BaseAgent> {
  return new Set(Array.from(agents, (agent) => [...ancestry(agent)]).flat())
}

/** An agent and all above it. */
export function* ancestry(agent: BaseAgent): Iterable<BaseAgent> {
  for (let current: BaseAgent | undefined = agent; current; current = current.parentAgent) yield current
}
