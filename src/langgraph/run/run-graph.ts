import type { Message } from '@ag-ui/core'
import type { RunnableConfig } from '@langchain/core/runnables'
import { withAnswers, type Control, type RunContext } from '../../agents/index.js'
import { applyNativeHooks } from '../../bridge/native-hooks.js'
import { isAbortError } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { AgentEvent } from '../../protocol/index.js'
import { markCheckpoint } from '../checkpoints/marks.js'
import type { GraphEvent, GraphSetup, ServableGraph } from '../contract.js'
import { keepsToItself, splitState } from '../input/state-keys.js'
import { openBreakpoint, openGraphInterrupts } from '../interrupts/open-interrupts.js'
import { clientToolAnswers, planGraphResume } from '../interrupts/resume.js'
import {
  type ResumableInterrupt,
  isClientToolInterrupt,
  raisedInterruptIds,
} from '../interrupts/to-interrupts.js'
import { GraphStream } from '../source/graph-stream.js'
import { keptResults } from '../tools/kept-results.js'
import { GraphTranslator } from '../translate/graph-translator.js'
import { runConfig } from './graph-config.js'
import { failedKey, startGraphRun, waitingControl, type GraphFrame, type GraphInput } from './start-run.js'
import { checkpointerOf } from '../checkpoints/checkpoints.js'
import { storedInterrupts, takeBackAnswers } from '../checkpoints/stored-interrupts.js'

/** Runs a graph once. */
export async function* runGraph(setup: GraphSetup, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const config = await runConfig(setup, ctx)
  const start = await startGraphRun(setup, ctx, config)
  if (start.type === 'end') return start.control
  if (start.thread && ctx.span.subagentRunId === undefined) yield* threadSnapshots(start.thread, ctx.messages)
  const translator = createGraphTranslator(setup, ctx, start.thread)
  const run: GraphRun = { setup, ctx, config, translator }
  const translate = (event: GraphEvent): readonly AgentEvent[] => translator.translate(event)
  const { native: hooks, graceMs, clock, report, callId, assertActive, onModelRequest } = ctx.services
  const { toolTimeoutMs, toolResultBytes } = ctx.services
  const clientTools = new Set(ctx.client.tools.map(({ name }) => name))
  const keptResult = keptResults({ messages: ctx.messages, isClientTool: (name) => clientTools.has(name) })
  const answeredCalls = new Set<string>()
  let next: GraphInput | undefined = start
  let attempt = new GraphAttempt()
  try {
    while (next) {
      attempt = new GraphAttempt(next.answered)
      const options = { input: next.input, config: { ...next.config }, signal: ctx.signal }
      // Not a generator of its own: each one on the way costs every token.
      for await (const event of new GraphStream(setup.graph, {
        ...{ ...options, graceMs, clock, report, callId, keptResult, assertActive, onModelRequest },
        ...{ toolTimeoutMs, toolResultBytes },
      })) {
        if (event.type !== 'model-chunk') attempt.note(event)
        const shown = hooks ? await applyNativeHooks(hooks, event, translate) : translate(event)
        for (const one of shown) yield one
      }
      attempt.hasEnded = true
      next = attempt.isInterrupted ? await nextClientResult(run, answeredCalls) : undefined
    }
  } catch (error) {
    if (attempt.hasBegun) ctx.values.set(failedKey(ctx), true)
    throw toGraphError(error, ctx.signal)
  } finally {
    translator.finish()
    await leaveCheckpoint(run, attempt, start.frame)
  }
  return await controlAfterRun(run, attempt.isInterrupted)
}

interface GraphRun {
  readonly setup: GraphSetup
  readonly ctx: RunContext
  readonly config: RunnableConfig
  readonly translator: GraphTranslator
}

/** Clients append the messages they lack, so a first snapshot drops everything after the first difference. */
function* threadSnapshots(thread: readonly Message[], known: readonly Message[]): Generator<AgentEvent> {
  const firstNew = thread.findIndex(({ id }, index) => id !== known[index]?.id)
  yield { type: 'MESSAGES_SNAPSHOT', messages: thread.slice(0, firstNew) }
  yield { type: 'MESSAGES_SNAPSHOT', messages: [...thread] }
}

function createGraphTranslator(
  setup: GraphSetup,
  ctx: RunContext,
  messages: readonly Message[] = ctx.messages,
): GraphTranslator {
  const { graph, options } = setup
  const isPrivate = keepsToItself(options, ctx)
  const clientTools = new Set(ctx.client.tools.map(({ name }) => name))
  return new GraphTranslator({
    parentSubagentRunId: ctx.span.subagentRunId,
    messages,
    isClientTool: (name) => clientTools.has(name),
    isPrivate,
    subgraphs: options.subgraphs ?? 'subagents',
    newId: ctx.services.newId,
    // What the graph has no keys for belongs to the client, and to agents that run at the same time.
    setState: (state) =>
      ctx.setState((current: unknown) => ({
        ...splitState(graph, current, isPrivate).rest,
        ...(state as object),
      })),
    addUsage: ctx.services.addUsage,
    report: ctx.services.report,
  })
}

/**
 * The input that answers a client tool call whose result is in the thread already. A node with several such calls waits
 * for one result after the other, though the client sends them together. Uses each result once, even if the graph
 * waits for it again.
 */
async function nextClientResult(run: GraphRun, answeredCalls: Set<string>): Promise<GraphInput | undefined> {
  const { ctx, config } = run
  const interrupts = (await openInterrupts(run)).filter(
    (entry) => isClientToolInterrupt(entry) && !answeredCalls.has(entry.interrupt.toolCallId ?? ''),
  )
  const answers = clientToolAnswers(interrupts, ctx.messages)
  const resume = planGraphResume(interrupts, answers)
  if (resume.type !== 'resume') return undefined
  for (const { interrupt } of interrupts)
    if (answers.has(interrupt.id)) answeredCalls.add(interrupt.toolCallId ?? '')
  return { ...resume, config }
}

/** Notes in the last checkpoint what the next run has to know. */
async function leaveCheckpoint(
  { setup, ctx, config, translator }: GraphRun,
  attempt: GraphAttempt,
  frame: GraphFrame | undefined,
): Promise<void> {
  try {
    const past = attempt.hasEnded ? undefined : await takeBackLostAnswers(setup.graph, config, attempt)
    const used = new Map([...ctx.resume.answers].filter(([id]) => past?.has(id)))
    if (frame && used.size > 0) ctx.resume.keepFrame(() => withAnswers(frame, used))
    const withRemoved = ctx.span.subagentRunId !== undefined
    await markCheckpoint(setup.graph, config, { shown: translator.shownMessages, withRemoved })
  } catch (error) {
    ctx.services.report(
      'The checkpointer could not save what the next run has to know; messages added elsewhere and new answers may get lost.',
      error,
    )
  }
}

function openInterrupts({ setup, config, translator }: GraphRun): Promise<readonly ResumableInterrupt[]> {
  return openGraphInterrupts(setup.graph, config, (...call) => translator.shownCallId(...call))
}

async function controlAfterRun(run: GraphRun, isInterrupted: boolean): Promise<Control> {
  const { setup, ctx, config, translator } = run
  const open = isInterrupted ? await openInterrupts(run) : []
  const interrupts = isInterrupted && open.length === 0 ? await openBreakpoint(setup.graph, config) : open
  return waitingControl(ctx, {
    interrupts: interrupts.map((entry) => withSpan(entry, translator)),
    pending: translator.pendingCallIds,
  })
}

/** Adds the span of the subagent that raised the interrupt. */
function withSpan(entry: ResumableInterrupt, translator: GraphTranslator): ResumableInterrupt {
  const graphId = entry.kind === 'breakpoint' ? undefined : entry.graphId
  const subagentRunId = graphId === undefined ? undefined : translator.interruptOrigin(graphId)?.subagentRunId
  if (subagentRunId === undefined) return entry
  return { ...entry, interrupt: { ...entry.interrupt, subagentRunId } }
}

/** Adds a code to a known error of LangGraph. */
function toGraphError(error: unknown, signal: AbortSignal): unknown {
  if (MillraceError.isInstance(error) || isAbortError(error, signal)) return error
  const code = isRecord(error) ? error.lc_error_code : undefined
  const message = error instanceof Error ? error.message : String(error)
  if (code === 'GRAPH_RECURSION_LIMIT') {
    const text = 'The graph has taken more steps than `recursionLimit` allows.'
    return new MillraceError('MAX_ITERATIONS', text, { cause: error })
  }
  if (message.includes('No checkpointer set')) {
    const text = 'The graph raises an interrupt, which needs a checkpointer: compile it with one.'
    return new MillraceError('INVALID_AGENT', text, { cause: error })
  }
  return error
}

/** One `graph.stream`, and what it has done so far. */
class GraphAttempt {
  /** The interrupts that it began with answers to. */
  readonly answered: readonly ResumableInterrupt[]
  /** The checkpoint namespaces of the graphs that it has entered. */
  readonly namespaces = new Set([''])
  /** LangGraph's ids of the interrupts that it has raised. */
  readonly raised = new Set<string>()
  hasBegun = false
  isInterrupted = false
  /** False when it failed or was cancelled. */
  hasEnded = false

  constructor(answered: readonly ResumableInterrupt[] = []) {
    this.answered = answered
  }

  note(event: GraphEvent): void {
    if (event.type === 'node-start') {
      this.hasBegun = true
      this.namespaces.add(event.ns)
    } else if (event.type === 'node-error' && event.isInterrupt)
      for (const id of raisedInterruptIds(event.error)) this.raised.add(id)
    else if (event.type === 'interrupts') this.isInterrupted = true
  }
}

/**
 * Takes back the answers of an attempt that failed or was cancelled: their interrupts are open, and take other answers.
 * Returns the ids of those that the graph is past: they stay answered.
 */
async function takeBackLostAnswers(
  graph: ServableGraph,
  config: RunnableConfig,
  { answered, namespaces, raised }: GraphAttempt,
): Promise<ReadonlySet<string>> {
  const checkpointer = checkpointerOf(graph)
  if (!checkpointer || answered.length === 0) return new Set()
  const lost = answered.flatMap((entry) =>
    entry.kind === 'breakpoint' || entry.graphId === undefined || raised.has(entry.graphId)
      ? []
      : [[entry.graphId, entry.answersBefore] as const],
  )
  await takeBackAnswers(checkpointer, config, { answersBefore: new Map(lost), namespaces })
  const stored = new Set((await storedInterrupts(checkpointer, config)).map(({ id }) => id))
  const [breakpoint] = await openBreakpoint(graph, config)
  const past = answered.filter((entry) => {
    if (entry.kind === 'breakpoint') return entry.interrupt.id !== breakpoint?.interrupt.id
    return !stored.has(entry.graphId) || (entry.graphId !== undefined && raised.has(entry.graphId))
  })
  return new Set(past.map(({ interrupt }) => interrupt.id))
}
