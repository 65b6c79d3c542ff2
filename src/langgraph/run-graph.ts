import type { Message } from '@ag-ui/core'
import type { RunnableConfig } from '@langchain/core/runnables'
import type { Control, RunContext } from '../agents/index.js'
import type { AgentEvent } from '../protocol/index.js'
import { answersInThread, resumeOf } from './ask/resume.js'
import type { Question } from './ask/questions.js'
import { graphError } from './graph-error.js'
import { markKnown } from './input/marks.js'
import { inputKeys, splitState } from './input/state-keys.js'
import { isClientCall, openBreakpoint, openQuestions } from './open-questions.js'
import { runConfig, type GraphSetup, type ServableGraph } from './setup.js'
import { failedKey, startOf } from './start-of-run.js'
import { stopped } from './stopped.js'
import { seen, streamGraph, type Running } from './stream-graph.js'
import { createTranslator, type Translator } from './translate/translator.js'

/** One run of a graph. */
export async function* runGraph(setup: GraphSetup, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const config = await runConfig(setup, ctx)
  const start = await startOf(setup, ctx, config)
  if (start.type === 'end') return start.control
  if (start.thread && ctx.span.subagentRunId === undefined) yield* retold(start.thread, ctx.messages)
  const translator = translatorOf(setup, ctx, start.thread)
  const given = new Set<string>()
  let next: Running | undefined = start
  let hasStopped = false
  let hasBegun = false
  try {
    while (next) {
      hasStopped = false
      // Not a generator of its own: it would cost every token.
      for await (const event of streamGraph(setup.graph, ctx, next)) {
        if (event.type === 'node-start') hasBegun = true
        if (event.type === 'interrupts') hasStopped = true
        const shown = ctx.services.native
          ? await seen(ctx.services.native, event, translator)
          : translator.translate(event)
        for (const one of shown) yield one
      }
      next = hasStopped ? await furtherAnswer(setup.graph, ctx, { config, given }) : undefined
    }
  } catch (error) {
    translator.finish()
    if (hasBegun) ctx.values.set(failedKey(ctx), true)
    throw graphError(error, ctx.signal)
  } finally {
    await noteKnown({ setup, ctx, config, translator })
  }
  yield* translator.finish()
  return end({ setup, ctx, config, translator, hasStopped })
}

/** Clients put what they lack behind what they have, so they first drop what comes after it. */
function* retold(thread: readonly Message[], held: readonly Message[]): Generator<AgentEvent> {
  const same = thread.findIndex(({ id }, index) => id !== held[index]?.id)
  yield { type: 'MESSAGES_SNAPSHOT', messages: thread.slice(0, same) }
  yield { type: 'MESSAGES_SNAPSHOT', messages: [...thread] }
}

async function noteKnown({ setup, ctx, config, translator }: Omit<Ended, 'hasStopped'>): Promise<void> {
  try {
    const withGone = ctx.span.subagentRunId !== undefined
    await markKnown(setup.graph, config, { told: translator.told, withGone })
  } catch (error) {
    ctx.services.report(
      `The checkpointer took no note: what is added elsewhere may get lost. ${String(error)}`,
    )
  }
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

function translatorOf(
  { graph, options }: GraphSetup,
  ctx: RunContext,
  thread: readonly Message[] = ctx.messages,
): Translator {
  const { privateKeys = [], subgraphs = 'subagents' } = options
  const clientTools = new Set(ctx.client.tools.map(({ name }) => name))
  // The client's own part of the state, which the graph has no place for.
  const { rest } = splitState(ctx.state, inputKeys(graph))
  return createTranslator({
    runId: ctx.runId,
    parentSubagentRunId: ctx.span.subagentRunId,
    messages: thread,
    isClientTool: (name) => clientTools.has(name),
    isPrivate: (key) => privateKeys.includes(key),
    subgraphs,
    newId: ctx.services.newId,
    setState: (state) => ctx.setState({ ...rest, ...(state as object) }),
    addUsage: ctx.services.addUsage,
    report: ctx.services.report,
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
