import {
  isBaseAgent,
  isLlmAgent,
  isWorkflow,
  ParallelWorker,
  ToolNode,
  type BaseAgent,
  type BaseNode,
  type Event,
  type InvocationContext,
  type Workflow,
} from '@google/adk'
import { agentKind, internalsOf, privateMembers, workerNode } from './agent-internals.js'
import { runLoop, runParallel, runResumedChild, runSequence, type ShellTree } from './composites.js'
import { llmShellMembers, type LlmShellOptions } from './llm-shell.js'
import { linkFields, shellPrototype, workflowPrototype } from './shell-fields.js'

type RunImpl = (context: InvocationContext) => AsyncGenerator<Event, void>

export interface ShellOptions extends LlmShellOptions {
  /** The shell to run when the Runner begins with this one. */
  readonly start: (shell: BaseAgent, agent: BaseAgent) => BaseAgent
}

/**
 * The stand-in for an agent in the tree of one run. It inherits everything from the agent, and has members of its own
 * for what ADK would write to the agent, for its position in the tree, and for how it waits and resumes.
 */
export function createShell(agent: BaseAgent, tree: ShellTree, options: ShellOptions): BaseAgent {
  const shell = Object.create(shellPrototype(agent), privateMembers(agent)) as BaseAgent
  const runAsync = (context: InvocationContext) => {
    const start = options.start(shell, agent)
    return start === shell ? agent.runAsync.call(shell, context) : start.runAsync(context)
  }
  setMembers(shell, { runAsync })
  // A workflow that resumes runs the agent again, as it does with an LlmAgent.
  if (agentKind(agent)) setMembers(shell, { rerunOnResume: true })
  if (isLlmAgent(agent)) setMembers(shell, llmShellMembers(agent, shell, options))
  const runAsyncImpl = runImplOf(agent, shell, tree)
  if (runAsyncImpl) setMembers(shell, { runAsyncImpl })
  return shell
}

/** Links a shell to the shells of its parent and its children, also where fields of the user's own lead to them. */
export function linkShell(shell: BaseAgent, agent: BaseAgent, { shellOf }: ShellTree): void {
  const parentAgent = agent.parentAgent && shellOf(agent.parentAgent)
  setMembers(shell, { parentAgent, subAgents: agent.subAgents.map(shellOf) })
  linkFields(shell, agent, shellOf)
}

/** Defines members on the shell itself: plain assignment could call a setter of the agent. */
function setMembers(shell: BaseAgent, values: Record<string, unknown>): void {
  const descriptors = Object.entries(values).map(
    ([key, value]) => [key, { value, writable: true, enumerable: true, configurable: true }] as const,
  )
  Object.defineProperties(shell, Object.fromEntries(descriptors))
}

function runImplOf(agent: BaseAgent, shell: BaseAgent, tree: ShellTree): RunImpl | undefined {
  const { runAsyncImpl } = internalsOf(shell)
  // An agent that chooses one of its children does not choose again when that one resumes.
  const choosing: RunImpl = (context) => {
    const { enter, resumes } = tree.position
    const isBelow = enter(agent) && !resumes(agent)
    return isBelow ? runResumedChild(agent, context, tree) : runAsyncImpl.call(shell, context)
  }
  switch (agentKind(agent)) {
    case 'sequential':
      return (context) => runSequence(agent, context, tree)
    case 'loop':
      return (context) => runLoop(agent, context, tree)
    case 'parallel':
      return (context) => runParallel(agent, context, tree)
    case 'routed':
    case 'llm':
      return choosing
    case undefined:
      return isLlmAgent(agent) ? choosing : undefined
  }
}

interface WorkflowShellOptions extends Pick<ShellOptions, 'wrapTool'> {
  readonly shellOf: (agent: BaseAgent) => BaseAgent
}

/**
 * The stand-in for a workflow in one run: the same graph with shells for its agents, since ADK writes to the agents of a
 * graph. A workflow that is a function names its agents itself, and stays as it is.
 */
export function workflowShell(workflow: Workflow, options: WorkflowShellOptions): Workflow {
  const { shellOf, wrapTool } = options
  const shells = new Map<BaseNode, BaseNode>()
  const nodeShell = (node: BaseNode): BaseNode => {
    const shell = shells.get(node) ?? createNodeShell(node)
    shells.set(node, shell)
    return shell
  }
  const createNodeShell = (node: BaseNode): BaseNode => {
    if (isBaseAgent(node)) return shellOf(node)
    if (isWorkflow(node)) return workflowShell(node, options)
    if (node instanceof ToolNode)
      return Object.create(node, { tool: { value: wrapTool(node.tool) } }) as BaseNode
    if (!(node instanceof ParallelWorker)) return node
    return Object.create(node, { inner: { value: nodeShell(workerNode(node)) } }) as BaseNode
  }
  const { graph } = workflow
  if (!graph) return workflow
  const edges = graph.edges.map(
    (edge) =>
      Object.create(edge, {
        fromNode: { value: nodeShell(edge.fromNode) },
        toNode: { value: nodeShell(edge.toNode) },
      }) as typeof edge,
  )
  const shellGraph: unknown = Object.create(graph, {
    edges: { value: edges },
    nodes: { value: graph.nodes.map(nodeShell) },
  })
  return Object.create(workflowPrototype(workflow), { graph: { value: shellGraph } }) as Workflow
}
