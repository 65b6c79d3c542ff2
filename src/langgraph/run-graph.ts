import type { RunnableConfig } from '@langchain/core/runnables'
import { Command } from '@langchain/langgraph'
import { asking, type Answer, type Control, type QuestionFrame, type RunContext } from '../agents/index.js'
import type { AgentEvent } from '../protocol/index.js'
import { answersInThread, resumeOf } from './ask/resume.js'
import type { Question } from './ask/questions.js'
import { graphError } from './graph-error.js'
import { savedState } from './input/checkpoints.js'
import { checkpointerOf } from './input/memory-graph.js'
import { prepareInput } from './input/prepare-input.js'
import { extrasInput, inputKeys, splitState, stateUpdate } from './input/state-keys.js'
import { isClientCall, openBreakpoint, openQuestions } from './open-questions.js'
import { runConfig, type GraphSetup, type ServableGraph } from './setup.js'
import { streamGraph, type Running } from './stream-graph.js'
import { createTranslator, type Translator } from './translate/translator.js'

/** What a run that stopped to ask leaves behind. The graph itself is in its checkpoint. */
interface GraphFrame extends QuestionFrame {
  readonly questions: readonly Question[]
}

/** How a run begins: with something for the graph, or without it. */
type Start =
  | { readonly type: 'run'; readonly input: unknown; readonly config: RunnableConfig }
  | { readonly type: 'end'; readonly control: Control }

/** One run of a graph. */
export async function* runGraph(setup: GraphSetup, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const config = await runConfig(setup, ctx)
  const start = await startOf(setup, ctx, config)
  if (start.type === 'end') return start.control
  const translator = translatorOf(setup, ctx)
  const given = new Set<string>()
  let next: Running | undefined = start
  let hasStopped = false
  const attempt = { hasBegun: false }
  try {
    while (next) {
      hasStopped = yield* streamGraph(setup.graph, ctx, { ...next, translator, attempt })
      next = hasStopped ? await furtherAnswer(setup.graph, ctx, { config, given }) : undefined
    }
  } catch (error) {
    translator.finish()
    if (attempt.hasBegun) ctx.values.set(failedKey(ctx), true)
    throw graphError(error, ctx.signal)
  }
  yield* translator.finish()
  return end({ setup, ctx, config, translator, hasStopped })
}

/** Where it is noted that a graph has failed in the middle of this run: the next attempt goes on from its checkpoint. */
function failedKey({ runId, address }: RunContext): string {
  return `langgraph failed ${runId} ${address}`
}

interface Place {
  readonly config: RunnableConfig
  /** The calls whose results the graph was given by this. */
  readonly given: Set<string>
}

/**
 * A node with several calls of the client's tools asks for one result after the other, though the client has sent them
 * together. Each is given once, also to a graph that asks for it again and again.
 */
async function furtherAnswer(
  graph: ServableGraph,
  ctx: RunContext,
  { config, given }: Place,
): Promise<Running | undefined> {
  const questions = (await openQuestions(graph, config)).filter(
    (question) => isClientCall(question) && !given.has(question.interrupt.toolCallId ?? ''),
  )
  const answers = answersInThread(questions, ctx.messages)
  const resume = resumeOf(questions, answers)
  if (resume.type !== 'resume') return undefined
  for (const { interrupt } of questions) if (answers.has(interrupt.id)) given.add(interrupt.toolCallId ?? '')
  return { input: resume.input, config }
}

async function startOf({ graph }: GraphSetup, ctx: RunContext, config: RunnableConfig): Promise<Start> {
  const frame = ctx.takeFrame() as GraphFrame | undefined
  if (ctx.values.delete(failedKey(ctx)) && (await isUnfinished(graph, config)))
    return { type: 'run', input: null, config }
  const open = await openQuestions(graph, config)
  const questions =
    open.length > 0 ? open : (frame?.questions.filter(({ kind }) => kind === 'breakpoint') ?? [])
  const answers = new Map<string, Answer>([
    ...Object.entries(frame?.answers ?? {}),
    ...ctx.answers,
    ...answersInThread(questions, ctx.messages),
  ])
  const { known } = splitState(ctx.state, inputKeys(graph))
  const isAsked = questions.some((question) => !isClientCall(question))
  if (questions.some(({ interrupt }) => answers.has(interrupt.id)) || isAsked) {
    const saved = await savedState(graph, config)
    const resume = resumeOf(questions, answers, stateUpdate(graph, known, saved?.values))
    if (resume.type === 'resume') return { type: 'run', input: resume.input, config }
    if (resume.type === 'stop') return { type: 'end', control: { type: 'done' } }
    return { type: 'end', control: stopped(ctx, { questions, answers: Object.fromEntries(answers) }) }
  }
  const clientTools = new Set(ctx.clientTools.map(({ name }) => name))
  const prepared = await prepareInput(graph, config, {
    messages: ctx.messages,
    isClientTool: (name) => clientTools.has(name),
  })
  if (prepared.type === 'wait')
    return { type: 'end', control: { type: 'done', pendingToolCallIds: prepared.toolCallIds } }
  const { messages, values } = prepared
  const extras = extrasInput(graph, { tools: ctx.clientTools, context: ctx.context })
  const update = { ...stateUpdate(graph, known, values), ...extras }
  const input = messages ? { messages, ...update } : goingOn(update)
  return { type: 'run', input, config: { ...config, ...prepared.config } }
}

/** What a graph is given to go on where it has stopped: an input would start it anew. */
function goingOn(update: Record<string, unknown>): Command | null {
  return Object.keys(update).length === 0 ? null : new Command({ update })
}

async function isUnfinished(graph: ServableGraph, config: RunnableConfig): Promise<boolean> {
  const saved = checkpointerOf(graph) && (await savedState(graph, config))
  return saved !== undefined && saved.next.length > 0
}

function translatorOf({ graph, options }: GraphSetup, ctx: RunContext): Translator {
  const { privateKeys = [], subgraphs = 'subagents' } = options
  const clientTools = new Set(ctx.clientTools.map(({ name }) => name))
  // The client's own part of the state, which the graph has no place for.
  const { rest } = splitState(ctx.state, inputKeys(graph))
  return createTranslator({
    runId: ctx.runId,
    parentSubagentRunId: ctx.subagentRunId,
    messages: ctx.messages,
    isClientTool: (name) => clientTools.has(name),
    isPrivate: (key) => privateKeys.includes(key),
    subgraphs,
    newId: ctx.newId,
    setState: (state) => ctx.setState({ ...rest, ...(state as object) }),
    addUsage: ctx.addUsage,
    report: ctx.report,
  })
}

interface Ended {
  readonly setup: GraphSetup
  readonly ctx: RunContext
  readonly config: RunnableConfig
  readonly translator: Translator
  readonly hasStopped: boolean
}

async function end({ setup, ctx, config, translator, hasStopped }: Ended): Promise<Control> {
  const { graph } = setup
  const asked = hasStopped ? await openQuestions(graph, config) : []
  const questions = hasStopped && asked.length === 0 ? await openBreakpoint(graph, config) : asked
  const pending = translator.pendingCalls.map(({ id }) => id)
  return stopped(ctx, { questions: questions.map((question) => placed(question, translator)), pending })
}

/** With the span of the agent that asks. */
function placed(question: Question, translator: Translator): Question {
  const graphId = question.kind === 'breakpoint' ? undefined : question.graphId
  const subagentRunId = graphId === undefined ? undefined : translator.askedIn(graphId)?.subagentRunId
  if (subagentRunId === undefined) return question
  return { ...question, interrupt: { ...question.interrupt, subagentRunId } }
}

interface Waiting {
  readonly questions: readonly Question[]
  readonly answers?: Readonly<Record<string, Answer>>
  /** Calls of the client's tools. */
  readonly pending?: readonly string[]
}

/** A run that waits: for people, for the client, or for nobody. */
function stopped(ctx: RunContext, { questions, answers = {}, pending = [] }: Waiting): Control {
  const people = questions.filter((question) => !isClientCall(question))
  if (people.length > 0) return asking(ctx.address, { questions: people, answers })
  const calls = questions.flatMap((question) =>
    question.kind === 'value' && question.clientCallId !== undefined ? [question.clientCallId] : [],
  )
  const pendingToolCallIds = [...new Set([...pending, ...calls])]
  return { type: 'done', ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }) }
}
