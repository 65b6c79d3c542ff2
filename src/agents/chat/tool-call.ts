import { context } from '@opentelemetry/api'
import { MillraceError } from '../../core/errors.js'
import { isAsyncGenerator } from '../../core/is-async-generator.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunContext, Tool, ToolContext, ToolEnd, Suspension } from '../contract.js'
import { InterruptSignal } from '../interrupts/interrupt-scope.js'
import type { Middleware, ToolCallInfo } from './middleware.js'
import { errorContent, toResultContent } from '../tools/tool-result.js'
import { toolSpan } from '../run/tracing.js'
import type { CallRequest } from './answer.js'
import { callAddress, createSession, StoppedSignal, type ToolSession } from './tool-context.js'

/** What became of one tool call. JSON, so that it can wait in a checkpoint for its siblings. */
export interface CallResult {
  readonly content: ReturnType<typeof toResultContent>
  readonly isError?: boolean
  /** The tool's own value, when its result ends the agent. */
  readonly direct?: { readonly value: unknown }
  /** Set when the tool has ended its agent. */
  readonly end?: ToolEnd
}

export type CallOutcome =
  | { readonly type: 'result'; readonly result: CallResult }
  | ({ readonly type: 'interrupted' } & Suspension)
  /** Stopped at a safe point. Goes on with the run. */
  | { readonly type: 'cancelled' }
  /** For `onToolError: 'throw'`. */
  | { readonly type: 'failed'; readonly error: unknown }
  /** The answer it was resumed with is of no use. That is not the model's business. */
  | { readonly type: 'refused'; readonly error: unknown }

export interface CallOptions {
  readonly ctx: RunContext
  readonly signal: AbortSignal
  readonly tools: ReadonlyMap<string, Tool>
  readonly middlewares: readonly Middleware[]
  readonly onToolError: 'feedback' | 'throw'
  /** The conversation up to and including the call. */
  readonly messages: () => ToolContext['messages']
  /**
   * Told of the result as soon as the tool has returned: what it sent may still wait for a reader, who may never come
   * when the run is stopped.
   */
  readonly onReturned: (call: CallRequest, result: CallResult) => void
}

/** Runs one call. Yields what the tool sends while it runs; a tool that fails is an outcome, not an error. */
export async function* runCall(
  call: CallRequest,
  options: CallOptions,
): AsyncGenerator<AgentEvent, CallOutcome> {
  const { ctx, signal, tools } = options
  const asker = ctx.resume.interruptScope(callAddress(ctx, call), {
    reason: 'tool_call',
    toolCallId: call.id,
  })
  const span = toolSpan(tools.has(call.name) ? call : { id: call.id }, { parent: ctx.span.trace, signal })
  const session = createSession(call, { ...options, asker, trace: span.context })
  try {
    // Ambient for the tool alone: what its code traces by itself belongs to the call.
    const work = context.with(span.context, () => invoke(call, session, options))
    const noted = work.then((value) => {
      if (!asker.suspension()) options.onReturned(call, resultOf(value, tools.get(call.name), session))
      return value
    })
    const value = yield* session.during(noted)
    // Swallowed or not, an unanswered question stands: what the tool returned after it does not count.
    const open = asker.suspension()
    if (open) return { type: 'interrupted', ...open }
    const result = resultOf(value, tools.get(call.name), session)
    span.end()
    return { type: 'result', result }
  } catch (error) {
    if (error instanceof InterruptSignal) asker.add(error)
    const open = asker.suspension()
    if (open) return { type: 'interrupted', ...open }
    if (error instanceof StoppedSignal) return { type: 'cancelled' }
    span.fail(error)
    return failed(call, error, options)
  } finally {
    if (asker.suspension()) span.interrupt()
    else span.stop()
  }
}

function resultOf(value: unknown, tool: Tool | undefined, { ctx, end }: ToolSession): CallResult {
  const content = toResultContent(value, ctx.toolName)
  const direct = tool?.returnDirectly === true ? { direct: { value: value ?? null } } : {}
  return { content, ...direct, ...(end ? { end } : {}) }
}

function failed(call: CallRequest, error: unknown, { signal, onToolError }: CallOptions): CallOutcome {
  if (signal.aborted) throw error
  if (MillraceError.isInstance(error) && error.code === 'INVALID_RESUME') return { type: 'refused', error }
  if (onToolError === 'feedback')
    return { type: 'result', result: { content: errorContent(error), isError: true } }
  if (MillraceError.isInstance(error)) return { type: 'failed', error }
  const message = `Tool '${call.name}' failed: ${errorContent(error)}`
  return { type: 'failed', error: new MillraceError('TOOL_ERROR', message, { cause: error }) }
}

async function invoke(
  call: CallRequest,
  session: ToolSession,
  { tools, middlewares }: CallOptions,
): Promise<unknown> {
  const tool = tools.get(call.name)
  if (!tool) {
    const known = [...tools.keys()].join(', ')
    throw new MillraceError('TOOL_ERROR', `There is no tool '${call.name}'. Tools: ${known || 'none'}.`)
  }
  const { ctx } = session
  let next = async ({ tool: chosen, args }: ToolCallInfo): Promise<unknown> =>
    valueOf(await chosen.call(args, ctx), session)
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

/** What a tool returns; one that is a generator yields its progress first, at the pace of the reader. */
async function valueOf(value: unknown, { ctx, send }: ToolSession): Promise<unknown> {
  if (!isAsyncGenerator(value)) return value
  let isDone = false
  try {
    for (;;) {
      const step = await value.next()
      isDone = step.done === true
      if (isDone) return step.value
      const isTaken = await send(progressEvent(ctx, step.value))
      if (!isTaken) return undefined
    }
  } finally {
    if (!isDone) await value.return(undefined)
  }
}

/** What a tool yields on its way is shown as an activity beside the call. */
function progressEvent({ toolCallId, toolName }: ToolContext, progress: unknown): AgentEvent {
  const isObject = typeof progress === 'object' && progress !== null && !Array.isArray(progress)
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId: `${toolCallId}:progress`,
    activityType: 'tool-progress',
    content: { toolCallId, toolName, ...(isObject ? progress : { message: progress }) },
  }
}
