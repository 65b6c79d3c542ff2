import {
  isBaseAgent,
  isWorkflow,
  ParallelWorker,
  type BaseAgent,
  type BaseNode,
  type Workflow,
} from '@google/adk'
import { workerNode } from './agent-index.js'

/**
 * What stands for a workflow in one run: the same graph with shells for its agents. ADK writes to the agents of a graph
 * how much of the conversation they see. A workflow that is a function names its agents itself: it stays as it is.
 */
export function workflowShell(workflow: Workflow, shellOf: (agent: BaseAgent) => BaseAgent): Workflow {
  const known = new Map<BaseNode, BaseNode>()
  const nodeFor = (node: BaseNode): BaseNode => {
    const shell = known.get(node) ?? shellFor(node)
    known.set(node, shell)
    return shell
  }
  const shellFor = (node: BaseNode): BaseNode => {
    if (isBaseAgent(node)) return shellOf(node)
    if (isWorkflow(node)) return workflowShell(node, shellOf)
    if (!(node instanceof ParallelWorker)) return node
    return Object.create(node, { inner: { value: nodeFor(workerNode(node)) } }) as BaseNode
  }
  const { graph } = workflow
  if (!graph) return workflow
  const edges = graph.edges.map(
    (edge) =>
      Object.create(edge, {
        fromNode: { value: nodeFor(edge.fromNode) },
        toNode: { value: nodeFor(edge.toNode) },
      }) as typeof edge,
  )
  const shellGraph: unknown = Object.create(graph, {
    edges: { value: edges },
    nodes: { value: graph.nodes.map(nodeFor) },
  })
  return Object.create(workflow, { graph: { value: shellGraph } }) as Workflow
}
