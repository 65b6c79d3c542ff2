import type { Message } from '@ag-ui/core'
import type { RunnableConfig } from '@langchain/core/runnables'
import { Command } from '@langchain/langgraph'
import type { Answer, Control, InterruptFrame, RunContext } from '../agents/index.js'
import type { Question } from './ask/questions.js'
import { answersInThread, resumeOf } from './ask/resume.js'
import { savedState } from './input/checkpoints.js'
import { checkpointerOf } from './input/memory-graph.js'
import { prepareInput } from './input/prepare-input.js'
import { extrasInput, inputKeys, splitState, stateUpdate } from './input/state-keys.js'
import { isClientCall, openQuestions } from './open-questions.js'
import type { GraphSetup, ServableGraph } from './setup.js'
import { stopped } from './stopped.js'

/** What a run that stopped to ask leaves behind. The graph itself is in its checkpoint. */
interface GraphFrame extends InterruptFrame {
  readonly interrupts: readonly Question[]
}

/** How a run begins: with something for the graph, or without it. */
export type Start =
  | {
      readonly type: 'run'
      readonly input: unknown
      readonly config: RunnableConfig
      /** The whole thread, when others have gone on with it meanwhile. */
      readonly thread?: readonly Message[]
    }
  | { readonly type: 'end'; readonly control: Control }

/** Where it is noted that a graph has failed in the middle of this run: the next attempt goes on from its checkpoint. */
export function failedKey({ runId, span }: RunContext): string {
  return `langgraph failed ${runId} ${span.address}`
}

/** Finds out how a run begins: with an answer, with what is new in the thread, or not at all. */
export async function startOf(
  { graph }: GraphSetup,
  ctx: RunContext,
  config: RunnableConfig,
): Promise<Start> {
  const frame = ctx.resume.takeFrame() as GraphFrame | undefined
  if (ctx.values.delete(failedKey(ctx)) && (await isUnfinished(graph, config)))
    return { type: 'run', input: null, config }
  const open = await openQuestions(graph, config)
  const questions =
    open.length > 0 ? open : (frame?.interrupts.filter(({ kind }) => kind === 'breakpoint') ?? [])
  const answers = new Map<string, Answer>([
    ...Object.entries(frame?.answers ?? {}),
    ...ctx.resume.answers,
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
  const clientTools = new Set(ctx.client.tools.map(({ name }) => name))
  const prepared = await prepareInput(graph, config, {
    messages: ctx.messages,
    hasOthers: ctx.span.subagentRunId !== undefined,
    isClientTool: (name) => clientTools.has(name),
  })
  if (prepared.type === 'wait')
    return { type: 'end', control: { type: 'done', pendingToolCallIds: prepared.toolCallIds } }
  const { messages, values, thread } = prepared
  const extras = extrasInput(graph, { tools: ctx.client.tools, context: ctx.client.context })
  const update = { ...stateUpdate(graph, known, values), ...extras }
  const input = messages ? { messages, ...update } : goingOn(update)
  return { type: 'run', input, config: { ...config, ...prepared.config }, ...(thread && { thread }) }
}

/** What a graph is given to go on where it has stopped: an input would start it anew. */
function goingOn(update: Record<string, unknown>): Command | null {
  return Object.keys(update).length === 0 ? null : new Command({ update })
}

async function isUnfinished(graph: ServableGraph, config: RunnableConfig): Promise<boolean> {
  const saved = checkpointerOf(graph) && (await savedState(graph, config))
  return saved !== undefined && saved.next.length > 0
}
