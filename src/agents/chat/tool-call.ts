import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunContext } from '../agent.js'
import { InterruptSignal, type Asker } from '../asker.js'
import type { Frames, Point } from '../checkpoint.js'
import type { Middleware, ToolCallInfo } from '../middleware.js'
import { errorContent, toResultContent } from '../tool-result.js'
import type { Tool, ToolContext } from '../tool.js'
import type { CallRequest } from './draft.js'

/** What became of one tool call. JSON, so that it can wait in a checkpoint for its siblings. */
export interface CallResult {
  readonly content: ReturnType<typeof toResultContent>
  readonly isError?: boolean
  /** The tool's own value, when its result ends the agent. */
  readonly direct?: { readonly value: unknown }
  readonly exit?: { readonly value: unknown }
}

export type CallOutcome =
  | { readonly type: 'result'; readonly result: CallResult }
  | { readonly type: 'interrupted'; readonly points: readonly Point[]; readonly frames: Frames }
  /** For `onToolError: 'throw'`. */
  | { readonly type: 'failed'; readonly error: unknown }

export interface CallOptions {
  readonly ctx: RunContext
  readonly signal: AbortSignal
  readonly tools: ReadonlyMap<string, Tool>
  readonly middlewares: readonly Middleware[]
  readonly onToolError: 'feedback' | 'throw'
  /** The conversation up to and including the call. */
  readonly messages: ToolContext['messages']
}

/** Where a tool call stands in the tree. */
export function callAddress(ctx: RunContext, call: CallRequest): string {
  return `${ctx.address}/${encodeURIComponent(call.name)}:${encodeURIComponent(call.id)}`
}

/** Runs one call. Yields what the tool sends while it runs; a tool that fails is an outcome, not an error. */
export async function* runCall(
  call: CallRequest,
  options: CallOptions,
): AsyncGenerator<AgentEvent, CallOutcome> {
  const { ctx, onToolError } = options
  const asker = ctx.asker(callAddress(ctx, call), { reason: 'tool_call', toolCallId: call.id })
  const session = createSession(call, asker, options)
  try {
    const value = yield* session.drain(invoke(call, session.ctx, options))
    // Swallowed or not, an unanswered question stands: what the tool returned after it does not count.
    if (asker.open) return { type: 'interrupted', points: asker.open.points, frames: asker.open.frames }
    return { type: 'result', result: session.resultOf(value) }
  } catch (error) {
    if (error instanceof InterruptSignal)
      return { type: 'interrupted', points: error.points, frames: error.frames }
    if (asker.open) return { type: 'interrupted', points: asker.open.points, frames: asker.open.frames }
    if (options.signal.aborted) throw error
    if (onToolError === 'throw') return { type: 'failed', error: toolError(call, error) }
    return { type: 'result', result: { content: errorContent(error), isError: true } }
  }
}

function toolError(call: CallRequest, error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  return new MillraceError('TOOL_ERROR', `Tool '${call.name}' failed: ${errorContent(error)}`, {
    cause: error,
  })
}

async function invoke(
  call: CallRequest,
  ctx: ToolContext,
  { tools, middlewares }: CallOptions,
): Promise<unknown> {
  const tool = tools.get(call.name)
  if (!tool) {
    const known = [...tools.keys()].join(', ')
    throw new MillraceError('TOOL_ERROR', `There is no tool '${call.name}'. Tools: ${known || 'none'}.`)
  }
  // Awaited here, so that a tool that throws at once rejects as one that throws later does.
  let next = async ({ tool: chosen, args }: ToolCallInfo): Promise<unknown> => await chosen.call(args, ctx)
  for (const middleware of [...middlewares].reverse()) {
    if (!middleware.tool) continue
    const inner = next
    next = async (info) => middleware.tool?.(info, inner, ctx)
  }
  return next({ toolCallId: call.id, tool, args: parseArgs(call) })
}

function parseArgs({ name, args }: CallRequest): unknown {
  if (args.trim() === '') return {}
  try {
    return JSON.parse(args)
  } catch (cause) {
    const message = `The arguments of '${name}' are not JSON: ${args.slice(0, 200)}`
    throw new MillraceError('INVALID_TOOL_ARGUMENTS', message, { cause })
  }
}

/** One tool at work: its context, and the events it sends while the agent waits for it. */
function createSession(call: CallRequest, asker: Asker, { ctx, signal, tools, messages }: CallOptions) {
  const events: AgentEvent[] = []
  let wake: () => void = () => undefined
  let exit: { value: unknown } | undefined
  const emit = (event: AgentEvent): void => {
    events.push(event)
    wake()
  }
  const toolContext: ToolContext = {
    threadId: ctx.threadId,
    runId: ctx.runId,
    toolCallId: call.id,
    toolName: call.name,
    signal,
    messages,
    values: ctx.values,
    get state() {
      return ctx.state
    },
    setState(next) {
      const event = ctx.setState(next)
      if (event) emit(event)
    },
    emit,
    exit: (result) => {
      exit = { value: result ?? null }
    },
    interrupt: (request) => asker.interrupt(request),
    resumed: asker.resumed,
    delegate: (agent, options) =>
      ctx.delegate(agent, { ...options, segment: `${call.name}:${call.id}`, toolCallId: call.id, signal }),
  }

  return {
    ctx: toolContext,
    /** Waits for the tool, and for the generator it may have returned, and yields what it sends meanwhile. */
    async *drain(running: Promise<unknown>): AsyncGenerator<AgentEvent, unknown> {
      const value = yield* settle(running)
      if (!isGenerator(value)) return value
      let isDone = false
      try {
        for (;;) {
          // What `settle` waits for is what it returns.
          const step = (yield* settle(value.next())) as IteratorResult<unknown, unknown>
          isDone = step.done === true
          if (isDone) return step.value
          yield progressEvent(call, step.value)
        }
      } finally {
        if (!isDone) await value.return(undefined)
      }
    },
    resultOf(value: unknown): CallResult {
      const content = toResultContent(value, call.name)
      const direct = tools.get(call.name)?.returnDirectly === true
      return { content, ...(direct ? { direct: { value: value ?? null } } : {}), ...(exit ? { exit } : {}) }
    },
  }

  async function* settle(pending: Promise<unknown>): AsyncGenerator<AgentEvent, unknown> {
    let isSettled = false
    const settled = pending.then(
      () => (isSettled = true),
      () => (isSettled = true),
    )
    void settled.then(() => wake())
    for (;;) {
      yield* events.splice(0)
      // Read again: the tool may have settled while its events were on their way.
      if (isSettled as boolean) break
      await new Promise<void>((resolve) => {
        wake = resolve
        if (isSettled || events.length > 0) resolve()
      })
    }
    yield* events.splice(0)
    return pending
  }
}

function isGenerator(value: unknown): value is AsyncGenerator<unknown, unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value && 'next' in value
}

/** What a tool yields on its way is shown as an activity beside the call. */
function progressEvent(call: CallRequest, progress: unknown): AgentEvent {
  const isObject = typeof progress === 'object' && progress !== null && !Array.isArray(progress)
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId: `${call.id}:progress`,
    activityType: 'tool-progress',
    content: { toolCallId: call.id, toolName: call.name, ...(isObject ? progress : { message: progress }) },
  }
}
