import type { Message } from '@ag-ui/core'
import {
  checkOptionNames,
  describeKind,
  invalidAgent,
  memberOf,
  interruptedBy,
  limitsMember,
  privateKeysMember,
  withHistory,
  rootAddress,
  withPredictedState,
  type Agent,
  type AgentMemory,
} from '../agents/index.js'
import { isRecord } from '../core/json.js'
import {
  checkpointerOf,
  deleteCheckpoints,
  savedState,
  writeCheckpointState,
} from './checkpoints/checkpoints.js'
import { withSharedReads } from './checkpoints/shared-reads.js'
import type { GraphSetup, LangGraphOptions, ServableGraph } from './contract.js'
import { splitState } from './input/state-keys.js'
import { compiledBreakpoint, openGraphInterrupts } from './interrupts/open-interrupts.js'
import { isClientToolInterrupt, type ResumableInterrupt } from './interrupts/to-interrupts.js'
import { RepeatedCalls } from './messages/call-ids.js'
import { toAgui } from './messages/to-agui.js'
import { threadConfig } from './run/graph-config.js'
import { outlineGraph } from './outline-graph.js'
import { runGraph } from './run/run-graph.js'
import { limitTools } from './tools/tool-limits.js'
import { VisibleState } from './translate/visible-state.js'

/**
 * Makes an Agent of a compiled graph, or of the result of `createAgent`. It runs in this process. Throws INVALID_AGENT
 * if the graph has no name.
 *
 * @example
 * createServer({ agents: [fromLangGraph(graph, { name: 'researcher' })] })
 */
export function fromLangGraph(
  graphOrAgent: ServableGraph | { readonly graph: ServableGraph },
  options: LangGraphOptions = {},
): Agent {
  checkOptionNames('fromLangGraph', options, optionNames)
  checkGraph(graphOrAgent)
  const graph = 'graph' in graphOrAgent ? graphOrAgent.graph : graphOrAgent
  const name = options.name ?? graph.name
  if (name === undefined || name === '')
    throw invalidAgent('Give the graph a name: `fromLangGraph(graph, { name })`.')
  const { description = '', examples, capabilities } = options
  limitTools(graph)
  const setup = { name, graph, options }
  const memory = createCheckpointMemory(setup)
  const agent: Agent = {
    name,
    description,
    hasNativeEvents: true,
    run: withPredictedState((ctx) => runGraph({ ...setup, graph: withSharedReads(graph) }, ctx), options),
    outline: () => outlineGraph(graph),
    ...(memory && { memory, resumesAfterFailure: true }),
    ...(examples && { examples }),
    ...(capabilities && { capabilities }),
    ...limitsMember(options.limits),
    ...privateKeysMember([options.privateKeys]),
  }
  return withHistory(agent, options.historyRewriter)
}

/** It may come from code without types. */
function checkGraph(value: unknown): void {
  const graph = memberOf(value, 'graph') ?? value
  if (typeof memberOf(graph, 'stream') === 'function' && typeof memberOf(graph, 'invoke') === 'function')
    return
  const isBuilder = typeof memberOf(value, 'compile') === 'function'
  const problem = isBuilder ? 'this one: call `.compile()` first' : describeKind(value)
  throw invalidAgent(
    `\`fromLangGraph\` takes a compiled graph or the result of \`createAgent\`, not ${problem}.`,
  )
}

// The compiler checks that none is missing.
const optionNames: Readonly<Record<keyof LangGraphOptions, true>> = {
  ...{
    name: true,
    description: true,
    examples: true,
    capabilities: true,
    limits: true,
    historyRewriter: true,
  },
  ...{ config: true, threadId: true, privateKeys: true, subgraphs: true, predictState: true },
}

/** The checkpoints of a graph as an agent's memory. Undefined if the graph has no checkpointer. */
function createCheckpointMemory(setup: GraphSetup): AgentMemory | undefined {
  const { name, graph } = setup
  if (!checkpointerOf(graph)) return undefined
  // With private keys: only a server reads it, which keeps them from clients.
  const visible = new VisibleState(
    () => false,
    () => undefined,
  )
  return {
    async read(thread) {
      const config = await threadConfig(setup, thread)
      const saved = await savedState(graph, config)
      if (!saved) return undefined
      const values: unknown = saved.values
      const messages = toAgui(isRecord(values) ? values.messages : [])
      const repeated = new RepeatedCalls(messages)
      const open = await openGraphInterrupts(graph, config, (id, caller) => repeated.idIn(caller, id) ?? id)
      const all = open.length > 0 ? open : await compiledBreakpoint(graph, config)
      const interrupts = all.filter((entry) => !isClientToolInterrupt(entry))
      const suspension =
        interrupts.length > 0 ? interruptedBy(rootAddress({ name }), { interrupts, answers: {} }) : undefined
      return {
        messages,
        state: (isRecord(values) ? visible.of(values) : undefined) ?? {},
        pendingToolCallIds: pendingCallIds(open, saved.next.length === 0 ? messages : []),
        ...(suspension && { suspension }),
      }
    },
    async writeState(thread, state) {
      // If the graph is in the middle of its work, the next run writes the state.
      const { known } = splitState(graph, state)
      await writeCheckpointState(graph, await threadConfig(setup, thread), known)
    },
    async forget(thread) {
      const { configurable } = await threadConfig(setup, thread)
      await deleteCheckpoints(graph, String(configurable?.thread_id))
    },
  }
}

/** The calls that wait for the client: those of interrupts, or those of the last message. */
function pendingCallIds(open: readonly ResumableInterrupt[], messages: readonly Message[]): string[] {
  const interrupting = open.flatMap((entry) =>
    isClientToolInterrupt(entry) ? (entry.interrupt.toolCallId ?? []) : [],
  )
  if (interrupting.length > 0) return interrupting
  const answered = new Set(
    messages.map((message) => (message.role === 'tool' ? message.toolCallId : undefined)),
  )
  const last = messages.findLast(({ role }) => role !== 'tool')
  const calls = last?.role === 'assistant' ? (last.toolCalls ?? []) : []
  return calls.map(({ id }) => id).filter((id) => !answered.has(id))
}
