import { isBaseAgent, isLlmAgent, type BaseAgent, type Workflow } from '@google/adk'
import { kindOf } from './agent-internals.js'
import { indexAgents } from './agent-index.js'
import type { Tree } from './composites.js'
import { ancestry, createPosition, type Position } from './position.js'
import { createShell, placeShell, type ShellOptions } from './shells.js'
import { createToolsetLeases } from './toolsets.js'
import { workflowShell } from './workflow-shell.js'

/** Where a run goes on. */
export interface RunTreeOptions {
  /** Agents that go on: their calls are answered in this run. Empty: from the beginning. */
  readonly resumeAt: readonly string[]
  /** Agents that have paused too and get no answer in this run. What comes after them waits. */
  readonly waitingAt?: readonly string[]
  /** How often each loop had gone round when the run paused, by the loop's name. */
  readonly iterations?: Readonly<Record<string, number>>
}

/** Shells in front of the user's agents, for one run. The agents themselves are not touched. */
export interface RunTree<Root extends BaseAgent | Workflow = BaseAgent | Workflow> {
  /** To give to the Runner in place of the root. */
  readonly root: Root
  readonly agentNames: ReadonlySet<string>
  /** Agents with an output schema. */
  readonly structured: ReadonlySet<string>
  /**
   * Whether the tree stops by itself once this agent has paused: it and all above it are of kinds we know. If not, the
   * run has to break off the stream.
   */
  readonly stopsItself: (author: string) => boolean
  /** How often the loops have gone round that are not done: for the run that goes on. */
  readonly iterations: () => Readonly<Record<string, number>>
  /** Gives back the toolsets. To be called when the run is over. Does not fail. */
  readonly close: () => Promise<void>
}

/** Makes the tree of one run. Several at the same time, of the same agents, know nothing of each other. */
export function createRunTree<Root extends BaseAgent | Workflow>(
  root: Root,
  options: RunTreeOptions,
): RunTree<Root> {
  // Above the agent that is given there may be others: transfers lead to them.
  const top = isBaseAgent(root) ? root.rootAgent : root
  const index = indexAgents(top)
  const position = createPosition(index, options)
  const iterations = new Map(Object.entries(options.iterations ?? {}))
  const toolsets = createToolsetLeases()
  const behindTools = new Map<BaseAgent, RunTree>()
  const shellOf = createShells({ position, iterations, root }, { toolsets, behindTool })

  function behindTool(agent: BaseAgent): BaseAgent {
    const tree = behindTools.get(agent) ?? createRunTree(agent, { resumeAt: [] })
    behindTools.set(agent, tree)
    return tree.root as BaseAgent
  }
  return {
    root: (isBaseAgent(root) ? shellOf(root) : workflowShell(root, shellOf)) as Root,
    agentNames: index.names,
    structured: index.structured,
    stopsItself(author) {
      const writers = index.writing(author)
      // What is not in a graph is run by a function of the workflow: ADK stops that one.
      if (writers.length === 0) return !isBaseAgent(root)
      return writers.every((agent) => [...ancestry(agent)].every((above) => kindOf(above) !== undefined))
    },
    iterations: () => Object.fromEntries(iterations),
    async close() {
      await Promise.all([toolsets.giveBack(), ...Array.from(behindTools.values(), (tree) => tree.close())])
    },
  }
}

interface ShellsFor extends Omit<Tree, 'shellOf'> {
  readonly root: BaseAgent | Workflow
}

function createShells({ root, ...parts }: ShellsFor, options: Omit<ShellOptions, 'start'>): Tree['shellOf'] {
  const shells = new Map<BaseAgent, BaseAgent>()
  const start = isBaseAgent(root)
    ? createStart(parts.position, { root, shellOf: (agent) => shellOf(agent) })
    : (shell: BaseAgent) => shell
  const shellOf = (agent: BaseAgent): BaseAgent => {
    const known = shells.get(agent)
    if (known) return known
    const shell = createShell(agent, tree, { ...options, start })
    shells.set(agent, shell)
    placeShell(shell, agent, tree)
    return shell
  }
  const tree: Tree = { ...parts, shellOf }
  return shellOf
}

/**
 * The Runner begins with the agent it thinks has spoken last. When the run goes on, that is right only for one that
 * leads to an agent that had paused, with nothing but LlmAgents above: all others have more to do after it.
 */
function createStart(
  { isResumed, leadsToResumed }: Position,
  { root, shellOf }: { readonly root: BaseAgent; readonly shellOf: Tree['shellOf'] },
): ShellOptions['start'] {
  let hasBegun = !isResumed
  return (shell, agent) => {
    if (hasBegun) return shell
    hasBegun = true
    const isRight = leadsToResumed(agent) && [...ancestry(agent)].slice(1).every(isLlmAgent)
    return isRight ? shell : shellOf(root)
  }
}
