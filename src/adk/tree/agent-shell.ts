import {
  type BaseAgent,
  type BaseNode,
  type Event,
  type InvocationContext,
  ParallelWorker,
  ToolNode,
  Workflow,
  isBaseAgent,
  isLlmAgent,
  isWorkflow,
} from '@google/adk'
import { agentKind, internalsOf, ownPrototypes, privateMembers, workerNode } from './agent-internals.js'
import { runLoop, runParallel, runResumedChild, runSequence, type ShellTree } from './composites.js'
import { llmShellMembers, type LlmShellOptions } from './llm-shell.js'

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

/** The agents behind the shells of all runs. */
const agentsBehind = new WeakMap<object, BaseAgent>()

/**
 * The prototype for the shell of an agent. All runs share the fields of the user's own classes, as with ADK's Runner: what
 * their code assigns to a shell, it assigns to the agent.
 */
function shellPrototype(agent: BaseAgent): BaseAgent {
  if (agentKind(agent) !== undefined && ownPrototypes(agent).length === 0) return agent
  return new Proxy(agent, {
    // Called for fields that the shell itself does not have.
    set: (...[, key, value, shell]: FieldWrite) => setField({ shell, agent }, key, value),
  })
}

type FieldWrite = readonly [agent: BaseAgent, key: PropertyKey, value: unknown, shell: BaseAgent]

/** The same for a workflow, whose fields hold no agents but those of its graph. */
function workflowPrototype(workflow: Workflow): Workflow {
  if (Object.getPrototypeOf(workflow) === Workflow.prototype) return workflow
  return new Proxy(workflow, { set: (_, key, value) => Reflect.set(workflow, key, value) })
}

/** Lets the fields of the user's own classes that hold agents below lead to their shells. */
function linkFields(shell: BaseAgent, agent: BaseAgent, shellOf: (agent: BaseAgent) => BaseAgent): void {
  agentsBehind.set(shell, agent)
  const kind = agentKind(agent)
  if (kind !== undefined && kind !== 'routed') return
  const below = new Set<unknown>(agent.subAgents)
  for (const [key, value] of Object.entries(agent)) {
    if (key === 'config' || key === 'subAgents') continue
    const shown = swapEntries(value, (entry) => (below.has(entry) ? shellOf(entry as BaseAgent) : entry))
    if (shown !== value) showField({ shell, agent }, key, shown)
  }
}

interface Shelled {
  readonly shell: BaseAgent
  readonly agent: BaseAgent
}

/** Assigns to the agent. A shell is of one run only: the agent gets the agent behind it. */
function setField(shelled: Shelled, key: PropertyKey, value: unknown): boolean {
  const kept = swapEntries(value, (entry) => agentsBehind.get(entry as object) ?? entry)
  if (kept !== value || Object.hasOwn(shelled.shell, key)) showField(shelled, key, value)
  return Reflect.set(shelled.agent, key, kept)
}

/** Shows a value in a field of the shell. The field can still be assigned to. */
function showField(shelled: Shelled, key: PropertyKey, value: unknown): void {
  const set = (next: unknown) => void setField(shelled, key, next)
  Object.defineProperty(shelled.shell, key, { get: () => value, set, enumerable: true, configurable: true })
}

/** Swaps a value, or the entries of an array or an object literal. The same value when there is nothing to swap. */
function swapEntries(value: unknown, swap: (entry: unknown) => unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  const swapped = swap(value)
  if (swapped !== value) return swapped
  const isSwapped = (entry: unknown) => swap(entry) !== entry
  if (Array.isArray(value)) return value.some(isSwapped) ? value.map(swap) : value
  if (Object.getPrototypeOf(value) !== Object.prototype || !Object.values(value).some(isSwapped)) return value
  return Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, swap(entry)]))
}
