import {
  BaseAgent,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  RoutedAgent,
  SequentialAgent,
  type Event,
  type InvocationContext,
} from '@google/adk'

/** Steps of ADK's agents that shells take part in. ADK does not declare them for others. */
export interface AgentInternals {
  readonly runAsyncImpl: RunSteps
  /** Of an LlmAgent: one request to the model and the calls in its answer. */
  readonly runOneStepAsync: RunSteps
  /** Of a LoopAgent. */
  readonly maxIterations: number
}

type RunSteps = (this: BaseAgent, context: InvocationContext) => AsyncGenerator<Event, void, void>

/** The same agent, with what it does not declare. */
export function internalsOf(agent: BaseAgent): AgentInternals {
  return agent as unknown as AgentInternals
}

/* eslint-disable @typescript-eslint/no-deprecated -- three of them are on their way out, and in use */
const kinds = {
  llm: LlmAgent,
  sequential: SequentialAgent,
  loop: LoopAgent,
  parallel: ParallelAgent,
  routed: RoutedAgent,
}
/* eslint-enable @typescript-eslint/no-deprecated */

export type AgentKind = keyof typeof kinds

/** What kind of agent this is. Undefined for one that runs in a way of its own, also if its class extends another. */
export function kindOf(agent: BaseAgent): AgentKind | undefined {
  const names = Object.keys(kinds) as AgentKind[]
  const { runAsyncImpl } = internalsOf(agent)
  return names.find((name) => internalsOf(kinds[name].prototype).runAsyncImpl === runAsyncImpl)
}

const usesPrivateNames = /#[\w$]|__private|__classPrivateField/

/**
 * Members of the user's own classes that may use private fields: those exist on the agent and not on its shell, so
 * these members have to work on the agent itself. Goes by the text of the classes; none too many does no harm.
 */
export function privateMembers(agent: BaseAgent): PropertyDescriptorMap {
  const members: PropertyDescriptorMap = {}
  for (const prototype of ownPrototypes(agent)) {
    if (!usesPrivateNames.test(String(prototype.constructor))) continue
    for (const [key, member] of Object.entries(Object.getOwnPropertyDescriptors(prototype))) {
      if (key !== 'constructor') members[key] ??= boundTo(agent, member)
    }
  }
  return members
}

function ownPrototypes(agent: BaseAgent): readonly object[] {
  const known = new Set<unknown>([
    BaseAgent.prototype,
    ...Object.values(kinds).map(({ prototype }) => prototype),
  ])
  const found: object[] = []
  let prototype: unknown = Object.getPrototypeOf(agent)
  while (typeof prototype === 'object' && prototype !== null && !known.has(prototype)) {
    found.push(prototype)
    prototype = Object.getPrototypeOf(prototype)
  }
  return found
}

function boundTo(agent: BaseAgent, member: PropertyDescriptor): PropertyDescriptor {
  const bind = (value: unknown): unknown => (typeof value === 'function' ? value.bind(agent) : value)
  return Object.fromEntries(Object.entries(member).map(([key, value]) => [key, bind(value)]))
}
