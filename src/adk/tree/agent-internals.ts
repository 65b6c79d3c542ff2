import {
  BaseAgent,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  RoutedAgent,
  SequentialAgent,
  type BaseNode,
  type Event,
  type InvocationContext,
  type LlmRequest,
  type LlmResponse,
  type ParallelWorker,
} from '@google/adk'

/** Members of ADK's agents that shells use. ADK does not declare them as public. */
export interface AgentInternals {
  readonly runAsyncImpl: RunSteps
  /** Of an LlmAgent: one request to the model and the calls in its answer. */
  readonly runOneStepAsync: RunSteps
  /** Of an LlmAgent: the request to the model. */
  readonly callLlmAsync: (this: BaseAgent, ...args: LlmCall) => AsyncGenerator<LlmResponse>
  /** Of a LoopAgent. */
  readonly maxIterations: number
}

export type LlmCall = [context: InvocationContext, request: LlmRequest, event: Event]

type RunSteps = (this: BaseAgent, context: InvocationContext) => AsyncGenerator<Event, void, void>

/** The same agent, typed with its internals. */
export function internalsOf(agent: BaseAgent): AgentInternals {
  return agent as unknown as AgentInternals
}

/** The node that a worker runs for each item. ADK does not declare the field. */
export function workerNode(worker: ParallelWorker): BaseNode {
  return (worker as unknown as { readonly inner: BaseNode }).inner
}

/* eslint-disable @typescript-eslint/no-deprecated -- ADK deprecates three of them, and people use them */
const agentClasses = {
  llm: LlmAgent,
  sequential: SequentialAgent,
  loop: LoopAgent,
  parallel: ParallelAgent,
  routed: RoutedAgent,
}
/* eslint-enable @typescript-eslint/no-deprecated */

export type AgentKind = keyof typeof agentClasses

/** Undefined for an agent with a `runAsyncImpl` of its own, also if its class extends one of ADK's. */
export function agentKind(agent: BaseAgent): AgentKind | undefined {
  const names = Object.keys(agentClasses) as AgentKind[]
  const { runAsyncImpl } = internalsOf(agent)
  return names.find((name) => internalsOf(agentClasses[name].prototype).runAsyncImpl === runAsyncImpl)
}

const usesPrivateNames = /#[\w$]|__private|__classPrivateField/

/**
 * Members of the user's own classes that may use private fields, bound to the agent: its shell does not have those
 * fields. Searches the source text of the classes; one bound member too many does no harm.
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

/** The prototypes of the user's own classes. */
export function ownPrototypes(agent: BaseAgent): readonly object[] {
  const known = new Set<unknown>([
    BaseAgent.prototype,
    ...Object.values(agentClasses).map(({ prototype }) => prototype),
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
