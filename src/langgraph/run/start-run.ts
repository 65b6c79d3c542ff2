import type { Message } from '@ag-ui/core'
import type { RunnableConfig } from '@langchain/core/runnables'
import { Command } from '@langchain/langgraph'
import {
  interruptedBy,
  type Answer,
  type Control,
  type InterruptFrame,
  type RunContext,
} from '../../agents/index.js'
import { isEqual } from '../../core/json.js'
import { savedState } from '../checkpoints/checkpoints.js'
import type { GraphSetup } from '../contract.js'
import { prepareGraphInput } from '../input/prepare-input.js'
import { changedValues, keepsToItself, splitState, stateUpdate } from '../input/state-keys.js'
import { openGraphInterrupts } from '../interrupts/open-interrupts.js'
import { clientToolAnswers, planGraphResume } from '../interrupts/resume.js'
import { isClientToolInterrupt, type ResumableInterrupt } from '../interrupts/to-interrupts.js'
import { RepeatedCalls } from '../messages/call-ids.js'
import { extrasInput } from '../tools/client-extras.js'

/** The arguments of one `graph.stream`. */
export interface GraphInput {
  readonly input: unknown
  readonly config: RunnableConfig
  /** The interrupts that the input answers. */
  readonly answered?: readonly ResumableInterrupt[]
}

/** The start of a run: the graph gets an input, or the run ends at once. */
export type GraphRunStart =
  | (GraphInput & {
      readonly type: 'run'
      /** The frame of the run that this one resumes. */
      readonly frame?: GraphFrame | undefined
      /** The whole thread, if others have added messages to the checkpoint meanwhile. */
      readonly thread?: readonly Message[]
    })
  | { readonly type: 'end'; readonly control: Control }

/** A node of the graph resumes when its own interrupt is answered, whatever others wait for. */
function withGroup(entry: ResumableInterrupt): ResumableInterrupt & { readonly group?: string } {
  if (entry.kind === 'breakpoint' || entry.graphId === undefined) return entry
  return { ...entry, group: entry.graphId }
}

/** The frame of an interrupted run. The graph's own position is in its checkpoint. */
export interface GraphFrame extends InterruptFrame {
  readonly interrupts: readonly ResumableInterrupt[]
}

/** Decides how a run starts: with answers, with new messages of the thread, or not at all. */
export async function startGraphRun(
  setup: GraphSetup,
  ctx: RunContext,
  config: RunnableConfig,
): Promise<GraphRunStart> {
  const { graph } = setup
  const frame = ctx.resume.takeFrame() as GraphFrame | undefined
  if (ctx.values.delete(failedKey(ctx))) {
    const saved = await savedState(graph, config)
    if (saved && saved.next.length > 0) return { type: 'run', input: null, config }
  }
  const repeated = new RepeatedCalls(ctx.messages)
  const stored = await openGraphInterrupts(graph, config, (id, caller) => repeated.idIn(caller, id) ?? id)
  const open = asShown(withoutResults(stored, ctx.messages), frame)
  const interrupts =
    open.length > 0 ? open : (frame?.interrupts.filter(({ kind }) => kind === 'breakpoint') ?? [])
  const answers = new Map<string, Answer>([
    ...Object.entries(frame?.answers ?? {}),
    ...ctx.resume.answers,
    ...clientToolAnswers(interrupts, ctx.messages),
  ])
  const isResuming = interrupts.some(
    (entry) => answers.has(entry.interrupt.id) || !isClientToolInterrupt(entry),
  )
  if (!isResuming) return await startWithNews(setup, ctx, config)
  const saved = await savedState(graph, config)
  const resume = planGraphResume(interrupts, answers, changedState(setup, ctx, saved?.values))
  if (resume.type === 'resume') return { ...resume, type: 'run', config, frame }
  if (resume.type === 'stop') return { type: 'end', control: { type: 'done' } }
  return { type: 'end', control: waitingControl(ctx, { interrupts, answers: Object.fromEntries(answers) }) }
}

/**
 * The interrupts that still wait. A graph inside the graph may have gone on after its answer when its process died: the
 * outer checkpoint has the interrupt still, and the thread has the result of its call, even if that says that it is lost.
 */
export function withoutResults(
  stored: readonly ResumableInterrupt[],
  messages: readonly Message[],
): readonly ResumableInterrupt[] {
  const results = new Set<unknown>(
    messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
  )
  return stored.filter(
    (entry) => isClientToolInterrupt(entry) || !results.has(entry.interrupt.toolCallId ?? null),
  )
}

/**
 * The interrupts with the ids that clients have. An answer that a dead process has given still counts in the checkpoint, so
 * the same interrupt has another id there.
 */
function asShown(
  open: readonly ResumableInterrupt[],
  frame: GraphFrame | undefined,
): readonly ResumableInterrupt[] {
  const contentOf = ({ interrupt: { id: _, subagentRunId: _span, ...rest } }: ResumableInterrupt): object =>
    rest
  return open.map((entry) => {
    const isSame = (shown: ResumableInterrupt): boolean =>
      shown.kind !== 'breakpoint' &&
      entry.kind !== 'breakpoint' &&
      shown.graphId === entry.graphId &&
      isEqual(contentOf(shown), contentOf(entry))
    const shown = frame?.interrupts.find(isSame)
    return shown ? { ...entry, ...shown } : entry
  })
}

/** The key in `ctx.values` that marks a failed attempt: the next one resumes from the checkpoint. */
export function failedKey({ runId, span }: RunContext): string {
  return `langgraph failed ${runId} ${span.address}`
}

async function startWithNews(
  setup: GraphSetup,
  ctx: RunContext,
  config: RunnableConfig,
): Promise<GraphRunStart> {
  const { graph } = setup
  const { tools } = ctx.client
  const clientTools = new Set(tools.map(({ name }) => name))
  const prepared = await prepareGraphInput(graph, config, {
    messages: ctx.messages,
    hasOthers: ctx.span.subagentRunId !== undefined,
    isClientTool: (name) => clientTools.has(name),
  })
  if (prepared.type === 'wait')
    return { type: 'end', control: { type: 'done', pendingToolCallIds: prepared.toolCallIds } }
  const { messages, values, rewound, thread } = prepared
  const known = knownState(setup, ctx)
  const changed = rewound ? { ...rewound.outside, ...changedValues(known, rewound.values) } : known
  const update = { ...stateUpdate(graph, changed, values), ...extrasInput(graph, ctx.client) }
  const input = messages ? { messages, ...update } : resumeWith(update)
  return { type: 'run', input, config: { ...config, ...prepared.config }, ...(thread && { thread }) }
}

function changedState(setup: GraphSetup, ctx: RunContext, values: unknown): Record<string, unknown> {
  return stateUpdate(setup.graph, knownState(setup, ctx), values)
}

/** The part of the shared state that the graph takes. */
function knownState({ graph, options }: GraphSetup, ctx: RunContext): Readonly<Record<string, unknown>> {
  return splitState(graph, ctx.state, keepsToItself(options, ctx)).known
}

/** Resumes the graph where it has stopped: a plain input would restart it. */
function resumeWith(update: Record<string, unknown>): Command | null {
  return Object.keys(update).length === 0 ? null : new Command({ update })
}

export interface WaitingRun {
  readonly interrupts: readonly ResumableInterrupt[]
  readonly answers?: Readonly<Record<string, Answer>>
  /** Pending client tool calls. */
  readonly pending?: readonly string[]
}

/** The control of a run with open interrupts, with pending client calls, or with neither. */
export function waitingControl(
  ctx: RunContext,
  { interrupts, answers = {}, pending = [] }: WaitingRun,
): Control {
  const forPeople = interrupts.filter((entry) => !isClientToolInterrupt(entry))
  if (forPeople.length > 0)
    return interruptedBy(ctx.span.address, { interrupts: forPeople.map(withGroup), answers })
  const calls = interrupts.flatMap((entry) =>
    entry.kind === 'value' && entry.clientCallId !== undefined ? [entry.clientCallId] : [],
  )
  const pendingToolCallIds = [...new Set([...pending, ...calls])]
  return { type: 'done', ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }) }
}
