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

/** All agents of a tree, and who is who. */
export interface AgentIndex {
  readonly names: ReadonlySet<string>
  /** Those with an output schema. */
  readonly structured: ReadonlySet<string>
  /** The agents that write under a name: those that have it, and those with a node of that name behind a tool. */
  readonly writing: (author: string) => readonly BaseAgent[]
}

/** Walks sub-agents, the graphs of workflows and the nodes behind tools. What is behind an AgentTool is not seen. */
export function indexAgents(root: BaseAgent | Workflow): AgentIndex {
  const names = new Set<string>()
  const structured = new Set<string>()
  const writers = new Map<string, Set<BaseAgent>>()
  const seen = new Set<BaseNode>()

  const visit = (node: BaseNode, owner?: BaseAgent): void => {
    if (seen.has(node)) return
    seen.add(node)
    const writer = owner ?? (isBaseAgent(node) ? node : undefined)
    if (writer) writers.set(node.name, (writers.get(node.name) ?? new Set()).add(writer))
    if (isBaseAgent(node)) {
      names.add(node.name)
      for (const child of node.subAgents) visit(child, owner)
    }
    if (isLlmAgent(node)) {
      if (node.outputSchema !== undefined) structured.add(node.name)
      for (const tool of nodesBehindTools(node)) visit(tool, owner ?? node)
    }
    for (const inner of nodesInside(node)) visit(inner, owner)
  }
  visit(root)
  return { names, structured, writing: (author) => [...(writers.get(author) ?? [])] }
}

/** The nodes a workflow or a worker runs by itself. */
function nodesInside(node: BaseNode): readonly BaseNode[] {
  if (isWorkflow(node)) return node.graph?.nodes ?? []
  return node instanceof ParallelWorker ? [workerNode(node)] : []
}

/** The node a worker runs for each item. ADK does not declare the field, but nothing else knows it. */
export function workerNode(worker: ParallelWorker): BaseNode {
  return (worker as unknown as { readonly inner: BaseNode }).inner
}

function nodesBehindTools({ tools }: LlmAgent): readonly BaseNode[] {
  return tools.flatMap((tool) => {
    if (tool instanceof NodeTool) return [tool.node]
    return tool instanceof BaseNode ? [tool] : []
  })
}
