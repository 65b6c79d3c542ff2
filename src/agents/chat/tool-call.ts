import { context } from '@opentelemetry/api'
import { assertResultSize } from '../../bridge/tool-result-size.js'
import { withToolTimeout } from '../../bridge/tool-timeout.js'
import { MillraceError } from '../../core/errors.js'
import { isAsyncGenerator } from '../../core/abortable.js'
import { isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { RunContext, Suspension, Tool, ToolContext, ToolEnd } from '../contract.js'
import { InterruptSignal } from '../interrupts/interrupt-scope.js'
import { toolSpan } from '../run/tracing.js'
import { errorContent, toResultContent, toToolJson } from '../tools/tool-result.js'
import type { CallRequest } from './model-answer.js'
import type { Middleware, ToolCallInfo } from './middleware.js'
import { ActiveCall, callAddress, StoppedSignal } from './tool-context.js'

/** The result of one tool call. JSON, so that it can wait in a checkpoint for its siblings. */
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
  /** Stopped at a safe point. Resumes with the run. */
  | { readonly type: 'cancelled' }
  /** For `onToolError: 'throw'`. */
  | { readonly type: 'failed'; readonly error: unknown }
  /** The answer does not fit the interrupt. The model does not see this error. */
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
   * Called with the result as soon as the tool has returned. The events it sent may still wait for a reader, and a
   * stopped run has none.
   */
  readonly onReturned: (call: CallRequest, result: CallResult) => void
}

/** Runs one call. Yields the events that the tool sends; a tool that fails is an outcome, not an error. */
export async function* runCall(
  call: CallRequest,
  options: CallOptions,
): AsyncGenerator<AgentEvent, CallOutcome> {
  const { ctx, signal, tools } = options
  const interrupts = ctx.resume.interruptScope(callAddress(ctx, call), {
    reason: 'tool_call',
    toolCallId: call.id,
  })
  const span = toolSpan(tools.has(call.name) ? call : { id: call.id }, { parent: ctx.span.trace, signal })
  const active = new ActiveCall(call, { ...options, interrupts, trace: span.context })
  try {
    // Ambient for the tool alone: spans of its own code belong to the call.
    const work = context.with(span.context, () => callWithMiddlewares(call, active, options))
    const noted = work.then((value) => {
      if (!interrupts.suspension()) options.onReturned(call, toResult(value, active, options))
      return value
    })
    const value = yield* active.eventsDuring(noted)
    // An open interrupt wins over a returned value: the tool may have swallowed the signal.
    const suspension = interrupts.suspension()
    if (suspension) return { type: 'interrupted', ...suspension }
    const result = toResult(value, active, options)
    span.end()
    return { type: 'result', result }
  } catch (error) {
    if (error instanceof InterruptSignal) interrupts.add(error)
    const suspension = interrupts.suspension()
    if (suspension) return { type: 'interrupted', ...suspension }
    if (error instanceof StoppedSignal) return { type: 'cancelled' }
    span.fail(error)
    return toFailure(call, error, options)
  } finally {
    if (interrupts.suspension()) span.interrupt()
    else span.stop()
  }
}

function toResult(value: unknown, { ctx, end }: ActiveCall, { tools, ctx: run }: CallOptions): CallResult {
  const { toolName: name } = ctx
  const content = toResultContent(value, name)
  assertResultSize(content, { name, maxBytes: run.services.toolResultBytes })
  const isDirect = tools.get(name)?.returnDirectly === true
  const direct = isDirect ? { direct: { value: toToolJson(value ?? null, name) } } : {}
  return { content, ...direct, ...(end ? { end } : {}) }
}

function toFailure(call: CallRequest, error: unknown, { signal, onToolError }: CallOptions): CallOutcome {
  if (signal.aborted) throw error
  if (MillraceError.isInstance(error) && error.code === 'INVALID_RESUME') return { type: 'refused', error }
  if (onToolError === 'feedback')
    return { type: 'result', result: { content: errorContent(error), isError: true } }
  if (MillraceError.isInstance(error)) return { type: 'failed', error }
  const message = `Tool '${call.name}' failed: ${errorContent(error)}`
  return { type: 'failed', error: new MillraceError('TOOL_ERROR', message, { cause: error }) }
}

async function callWithMiddlewares(
  call: CallRequest,
  active: ActiveCall,
  { ctx: { services }, tools, middlewares }: CallOptions,
): Promise<unknown> {
  const tool = tools.get(call.name)
  if (!tool) {
    const known = [...tools.keys()].join(', ')
    throw new MillraceError('TOOL_ERROR', `There is no tool '${call.name}'. Tools: ${known || 'none'}.`)
  }
  let next = async ({ tool: chosen, args }: ToolCallInfo): Promise<unknown> => {
    services.assertActive()
    const { timeoutMs = services.toolTimeoutMs ?? Infinity } = chosen
    const work = async (ctx: ToolContext): Promise<unknown> =>
      readResult(await chosen.call(args, ctx), active)
    if (timeoutMs === Infinity) return work(active.ctx)
    const { signal } = active.ctx
    return withToolTimeout((limited) => work(withSignal(active.ctx, limited)), {
      ...{ name: chosen.name, timeoutMs, clock: services.clock, signal },
    })
  }
  for (const middleware of [...middlewares].reverse()) {
    if (!middleware.tool) continue
    const inner = next
    next = async (info) => middleware.tool?.(info, inner, active.ctx)
  }
  return next({ toolCallId: call.id, tool, args: parseArgs(call) })
}

/** Inherited, not copied: members such as `state` are live. */
function withSignal(ctx: ToolContext, signal: AbortSignal): ToolContext {
  return Object.create(ctx, { signal: { value: signal, enumerable: true } }) as ToolContext
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

/** Reads the result of a tool. A generator sends its progress first, at the pace of the reader. */
async function readResult(value: unknown, active: ActiveCall): Promise<unknown> {
  if (!isAsyncGenerator(value) && !isGenerator(value)) return value
  let isDone = false
  try {
    for (;;) {
      const step = await value.next()
      isDone = step.done === true
      if (isDone) return step.value
      const isRead = await active.send(progressEvent(active.ctx, step.value))
      if (!isRead) return undefined
    }
  } finally {
    if (!isDone) await value.return(undefined)
  }
}

/** Whether a tool was written as `function*`. */
function isGenerator(value: unknown): value is Generator<unknown, unknown> {
  return Object.prototype.toString.call(value) === '[object Generator]'
}

/** Progress of a tool is shown as an activity beside the call. */
function progressEvent({ toolCallId, toolName }: ToolContext, value: unknown): AgentEvent {
  const progress = toJson(value ?? null, `The progress of tool '${toolName}'`)
  return {
    type: 'ACTIVITY_SNAPSHOT',
    messageId: `${toolCallId}:progress`,
    activityType: 'tool-progress',
    content: { toolCallId, toolName, ...(isRecord(progress) ? progress : { message: progress }) },
  }
}
