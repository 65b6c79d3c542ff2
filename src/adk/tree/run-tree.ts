import { isBaseAgent, isLlmAgent, type BaseAgent, type BaseTool, type Workflow } from '@google/adk'
import {
  ancestry,
  createResumePosition,
  indexAgents,
  type ResumeTargets,
  type ResumePosition,
} from './agent-index.js'
import type { ToolWrapper } from '../tools/run-tools.js'
import { agentKind } from './agent-internals.js'
import type { ShellTree } from './composites.js'
import { ToolsetLeases } from './llm-shell.js'
import { createShell, linkShell, workflowShell, type ShellOptions } from './agent-shell.js'

export interface RunTreeOptions extends ResumeTargets {
  /** Completed rounds of each loop when the run stopped, by the loop's name. */
  readonly iterations?: Readonly<Record<string, number>>
  /** Default: tools stay as they are. */
  readonly wrapTool?: ToolWrapper
}

/** Shells in front of the user's agents, for one run. Does not change the agents themselves. */
export interface RunTree<Root extends BaseAgent | Workflow = BaseAgent | Workflow> {
  /** For the Runner, in place of the root. */
  readonly root: Root
  readonly agentNames: ReadonlySet<string>
  /** Agents with an output schema. */
  readonly structured: ReadonlySet<string>
  /**
   * Whether the tree stops by itself once this agent waits: it and all above it are of kinds we know. If not, the run
   * has to break off the stream.
   */
  readonly stopsItself: (author: string) => boolean
  /** Completed rounds of the loops that are not done, for the run that resumes. */
  readonly iterations: () => Readonly<Record<string, number>>
  /** Releases the toolsets. Call it when the run is over. Never rejects. */
  readonly close: () => Promise<void>
}

/** Makes the tree of one run. Trees of the same agents are independent. */
export function createRunTree<Root extends BaseAgent | Workflow>(
  root: Root,
  options: RunTreeOptions,
): RunTree<Root> {
  // The given agent may have parents: transfers lead to them.
  const top = isBaseAgent(root) ? root.rootAgent : root
  const index = indexAgents(top)
  const position = createResumePosition(index, options)
  const iterations = new Map(Object.entries(options.iterations ?? {}))
  const toolsets = new ToolsetLeases()
  const treesBehindTools = new Map<BaseAgent, RunTree>()
  const { wrapTool = (tool: BaseTool) => tool, waitingAt = {} } = options
  const openCallsOf = ({ name }: BaseAgent) => waitingAt[name] ?? []
  const shellOf = createShells(
    { position, iterations, root },
    { toolsets, behindTool, wrapTool, openCallsOf },
  )

  function behindTool(agent: BaseAgent): BaseAgent {
    const tree = treesBehindTools.get(agent) ?? createRunTree(agent, { resumeAt: [], wrapTool })
    treesBehindTools.set(agent, tree)
    return tree.root as BaseAgent
  }
  return {
    root: (isBaseAgent(root) ? shellOf(root) : workflowShell(root, { shellOf, wrapTool })) as Root,
    agentNames: index.names,
    structured: index.structured,
    stopsItself(author) {
      const writers = index.writing(author)
      // A function of the workflow runs agents outside the graph: ADK stops it.
      if (writers.length === 0) return !isBaseAgent(root)
      return writers.every((agent) => [...ancestry(agent)].every((above) => agentKind(above) !== undefined))
    },
    iterations: () => Object.fromEntries(iterations),
    async close() {
      const trees = [...treesBehindTools.values()]
      await Promise.all([toolsets.release(), ...trees.map((tree) => tree.close())])
    },
  }
}

interface ShellsOptions extends Omit<ShellTree, 'shellOf'> {
  readonly root: BaseAgent | Workflow
}

function createShells(
  { root, ...parts }: ShellsOptions,
  options: Omit<ShellOptions, 'start'>,
): ShellTree['shellOf'] {
  const shells = new Map<BaseAgent, BaseAgent>()
  const start = isBaseAgent(root)
    ? startOnce(parts.position, { root, shellOf: (agent) => shellOf(agent) })
    : (shell: BaseAgent) => shell
  const shellOf = (agent: BaseAgent): BaseAgent => {
    const known = shells.get(agent)
    if (known) return known
    const shell = createShell(agent, tree, { ...options, start })
    shells.set(agent, shell)
    linkShell(shell, agent, tree)
    return shell
  }
  const tree: ShellTree = { ...parts, shellOf }
  return shellOf
}

/**
 * The Runner begins with the agent that it takes for the last speaker. For a run that resumes, this is right only if the
 * agent leads to a resumed one and has only LlmAgents above it: any other parent has more to do after it.
 */
function startOnce(
  { isResumed, leadsToResumed }: ResumePosition,
  { root, shellOf }: { readonly root: BaseAgent; readonly shellOf: ShellTree['shellOf'] },
): ShellOptions['start'] {
  let hasBegun = !isResumed
  return (shell, agent) => {
    if (hasBegun) return shell
    hasBegun = true
    const isRight = leadsToResumed(agent) && [...ancestry(agent)].slice(1).every(isLlmAgent)
    return isRight ? shell : shellOf(root)
  }
}
