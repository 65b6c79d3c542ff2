import { isLlmAgent, type BaseAgent, type Event, type InvocationContext } from '@google/adk'
import { internalsOf, kindOf, privateMembers } from './agent-internals.js'
import { runLoop, runParallel, runResumedChild, runSequence, type Tree } from './composites.js'
import { llmMembers, type ToolOptions } from './llm-shell.js'

type RunImpl = (context: InvocationContext) => AsyncGenerator<Event, void>

export interface ShellOptions extends ToolOptions {
  /** Where a run begins that was sent to this shell first. */
  readonly start: (shell: BaseAgent, agent: BaseAgent) => BaseAgent
}

/**
 * What stands for an agent in the tree of one run. It inherits all from the agent, and has members of its own for what
 * ADK would write to the agent, for its place in the tree, and for how it pauses and goes on.
 */
export function createShell(agent: BaseAgent, tree: Tree, options: ShellOptions): BaseAgent {
  const bound = privateMembers(agent)
  const shell = Object.create(agent, bound) as BaseAgent
  const runAsync = (context: InvocationContext) => {
    const start = options.start(shell, agent)
    return start === shell ? agent.runAsync.call(shell, context) : start.runAsync(context)
  }
  Object.defineProperties(shell, members({ runAsync, ...fieldsOf(agent, tree) }))
  // Sees to it that a workflow runs the agent again when it goes on, as it does with an LlmAgent.
  if (kindOf(agent)) Object.defineProperties(shell, members({ rerunOnResume: true }))
  if (isLlmAgent(agent)) Object.defineProperties(shell, members(llmMembers(agent, shell, options)))
  const runImpl = runImplOf(agent, shell, tree)
  if (runImpl) Object.defineProperties(shell, members({ runAsyncImpl: runImpl }))
  return shell
}

/** Gives a shell its place: below the shell of its parent, above those of its children. */
export function placeShell(shell: BaseAgent, agent: BaseAgent, { shellOf }: Tree): void {
  const parentAgent = agent.parentAgent && shellOf(agent.parentAgent)
  Object.defineProperties(shell, members({ parentAgent, subAgents: agent.subAgents.map(shellOf) }))
}

function members(values: Record<string, unknown>): PropertyDescriptorMap {
  return Object.fromEntries(
    Object.entries(values).map(([key, value]) => [
      key,
      { value, writable: true, enumerable: true, configurable: true },
    ]),
  )
}

function runImplOf(agent: BaseAgent, shell: BaseAgent, tree: Tree): RunImpl | undefined {
  const { runAsyncImpl } = internalsOf(shell)
  const choosing: RunImpl = (context) =>
    straightOr(agent, context, { tree, run: () => runAsyncImpl.call(shell, context) })
  switch (kindOf(agent)) {
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

/** An agent that chooses one of those below it does not choose again when that one goes on. */
function straightOr(
  agent: BaseAgent,
  context: InvocationContext,
  { tree, run }: { tree: Tree; run: RunImpl },
) {
  const { enter, resumes } = tree.position
  return enter(agent) && !resumes(agent) ? runResumedChild(agent, context, tree) : run(context)
}

/** Fields of the user's own that hold agents of the tree, one or several: they are to lead to the shells too. */
function fieldsOf(agent: BaseAgent, { shellOf }: Tree): Record<string, unknown> {
  const kind = kindOf(agent)
  if (kind !== undefined && kind !== 'routed') return {}
  const below = new Set<unknown>(agent.subAgents)
  const swap = (value: unknown) => (below.has(value) ? shellOf(value as BaseAgent) : value)
  const fields: Record<string, unknown> = {}
  for (const [key, value] of Object.entries(agent)) {
    if (key === 'config' || key === 'subAgents') continue
    if (below.has(value)) fields[key] = swap(value)
    else if (Array.isArray(value) && value.some((entry) => below.has(entry))) fields[key] = value.map(swap)
    else if (isPlain(value) && Object.values(value).some((entry) => below.has(entry)))
      fields[key] = Object.fromEntries(Object.entries(value).map(([name, entry]) => [name, swap(entry)]))
  }
  return fields
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype
}
