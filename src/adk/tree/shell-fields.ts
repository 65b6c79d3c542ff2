import { Workflow, type BaseAgent } from '@google/adk'
import { agentKind, ownPrototypes } from './agent-internals.js'

/** The agents behind the shells of all runs. */
const agentsBehind = new WeakMap<object, BaseAgent>()

/**
 * The prototype for the shell of an agent. All runs share the fields of the user's own classes, as with ADK's Runner: what
 * their code assigns to a shell, it assigns to the agent.
 */
export function shellPrototype(agent: BaseAgent): BaseAgent {
  if (agentKind(agent) !== undefined && ownPrototypes(agent).length === 0) return agent
  return new Proxy(agent, {
    // Called for fields that the shell itself does not have.
    set: (...[, key, value, shell]: FieldWrite) => setField({ shell, agent }, key, value),
  })
}

type FieldWrite = readonly [agent: BaseAgent, key: PropertyKey, value: unknown, shell: BaseAgent]

/** The same for a workflow, whose fields hold no agents but those of its graph. */
export function workflowPrototype(workflow: Workflow): Workflow {
  if (Object.getPrototypeOf(workflow) === Workflow.prototype) return workflow
  return new Proxy(workflow, { set: (_, key, value) => Reflect.set(workflow, key, value) })
}

/** Lets the fields of the user's own classes that hold agents below lead to their shells. */
export function linkFields(
  shell: BaseAgent,
  agent: BaseAgent,
  shellOf: (agent: BaseAgent) => BaseAgent,
): void {
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
