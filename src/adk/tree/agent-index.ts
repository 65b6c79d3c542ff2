import {
  BaseNode,
  isBaseAgent,
  isLlmAgent,
  isWorkflow,
  NodeTool,
  ParallelWorker,
  type BaseAgent,
  type LlmAgent,
  type Workflow,
} from '@google/adk'
import { workerNode } from './agent-internals.js'

/** All agents of a tree by name. */
export interface AgentIndex {
  readonly agents: readonly BaseAgent[]
  readonly names: ReadonlySet<string>
  /** Agents with an output schema. */
  readonly structured: ReadonlySet<string>
  /** The agents that write events under a name: those with the name, and those with a node of that name behind a tool. */
  readonly writing: (author: string) => readonly BaseAgent[]
}

/** Walks sub-agents, the graphs of workflows and the nodes behind tools, but not the agents behind an AgentTool. */
export function indexAgents(root: BaseAgent | Workflow): AgentIndex {
  const agents: BaseAgent[] = []
  const names = new Set<string>()
  const structured = new Set<string>()
  const writers = new Map<string, Set<BaseAgent>>()
  const visited = new Set<BaseNode>()

  const visit = (node: BaseNode, owner?: BaseAgent): void => {
    if (visited.has(node)) return
    visited.add(node)
    const writer = owner ?? (isBaseAgent(node) ? node : undefined)
    if (writer) writers.set(node.name, (writers.get(node.name) ?? new Set()).add(writer))
    if (isBaseAgent(node)) {
      agents.push(node)
      names.add(node.name)
      for (const child of node.subAgents) visit(child, owner)
    }
    if (isLlmAgent(node)) {
      if (node.outputSchema !== undefined) structured.add(node.name)
      for (const behind of nodesBehindTools(node)) visit(behind, owner ?? node)
    }
    for (const inner of nodesInside(node)) visit(inner, owner)
  }
  visit(root)
  return { agents, names, structured, writing: (author) => [...(writers.get(author) ?? [])] }
}

/** The nodes that a workflow or a worker runs by itself. */
function nodesInside(node: BaseNode): readonly BaseNode[] {
  if (isWorkflow(node)) return node.graph?.nodes ?? []
  return node instanceof ParallelWorker ? [workerNode(node)] : []
}

function nodesBehindTools({ tools }: LlmAgent): readonly BaseNode[] {
  return tools.flatMap((tool) => {
    if (tool instanceof NodeTool) return [tool.node]
    return tool instanceof BaseNode ? [tool] : []
  })
}

/** Where a run resumes in a tree. Takes the user's agents, not their shells. */
export interface ResumePosition {
  /** Whether the run resumes. */
  readonly isResumed: boolean
  /** Whether this agent was waiting and resumes. */
  readonly resumes: (agent: BaseAgent) => boolean
  /** Whether this agent, or one below it, was waiting and resumes. */
  readonly leadsToResumed: (agent: BaseAgent) => boolean
  /** Whether this agent, or one below it, waits and gets no answer in this run. */
  readonly leadsToWaiting: (agent: BaseAgent) => boolean
  /** Call it when an agent begins. Returns whether it resumes: true at most once, later it starts anew. */
  readonly enter: (agent: BaseAgent) => boolean
}

export interface ResumeTargets {
  /** Agents that resume: their calls are answered in this run. Empty: the run begins at the start. */
  readonly resumeAt: readonly string[]
  /** Calls that get no result in this run, by the agents that wait for them. The agents after those do not run. */
  readonly waitingAt?: Readonly<Record<string, readonly string[]>>
}

export function createResumePosition(
  index: AgentIndex,
  { resumeAt, waitingAt = {} }: ResumeTargets,
): ResumePosition {
  const resumed = new Set(resumeAt.flatMap(index.writing))
  const path = withAncestors(resumed)
  const waiting = withAncestors(Object.keys(waitingAt).flatMap(index.writing))
  const ahead = new Set(path)
  return {
    isResumed: resumed.size > 0,
    resumes: (agent) => resumed.has(agent),
    leadsToResumed: (agent) => path.has(agent),
    leadsToWaiting: (agent) => waiting.has(agent),
    enter(agent) {
      const isAhead = ahead.has(agent)
      // Its ancestors count as entered too: a run may begin below them and reach them by a transfer.
      for (const entered of ancestry(agent)) ahead.delete(entered)
      return isAhead
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
