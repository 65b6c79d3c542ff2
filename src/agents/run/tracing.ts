import {
  context,
  createContextKey,
  SpanKind,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
} from '@opentelemetry/api'
import { isAbortError } from '../../core/abort.js'
import type { ErrorCode } from '../../core/error-codes.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../../models/index.js'

/** The trace of a run. */
export interface RunTrace {
  /** The parent of the run's spans. */
  readonly context: Context
  /** Ends the spans that are still open. */
  close(): void
}

/** Begins the trace of a run. By default it is part of the caller's active trace. */
export function openTrace(parent: Context = context.active()): RunTrace {
  return new OpenTrace(parent)
}

/** The parent span, and the signal that stops the work. */
export interface SpanParent {
  readonly parent: Context
  readonly signal: AbortSignal
}

/** The span of a subagent. Names and attributes, here and below, are OpenTelemetry's for generative AI. */
export function agentSpan(name: string, parent: SpanParent): WorkSpan {
  return startSpan({
    ...parent,
    name: `invoke_agent ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
    fallback: 'AGENT_ERROR',
  })
}

/** The span of a tool call. Without a name when there is no such tool: the model made the name up. */
export function toolSpan(
  { id, name }: { readonly id: string; readonly name?: string },
  parent: SpanParent,
): WorkSpan {
  return startSpan({
    ...parent,
    name: name === undefined ? 'execute_tool' : `execute_tool ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: {
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.call.id': id,
      'gen_ai.tool.type': 'function',
      ...(name === undefined ? {} : { 'gen_ai.tool.name': name }),
    },
    fallback: 'TOOL_ERROR',
  })
}

/** A model's stream in a span. Without a recorder it is the model's own stream, so that tracing costs nothing per part. */
export function tracedStream(model: Model, request: ModelRequest, parent: Context): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      const span = modelSpan(model, { parent, signal: request.signal })
      const source = span.isRecording ? recordStream(model, request, span) : model.stream(request)
      return source[Symbol.asyncIterator]()
    },
  }
}

function modelSpan({ provider, modelId }: Model, parent: SpanParent): WorkSpan {
  return startSpan({
    ...parent,
    name: `chat ${modelId}`,
    kind: SpanKind.CLIENT,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': providerNames.get(provider) ?? provider,
      'gen_ai.request.model': modelId,
    },
    fallback: 'MODEL_ERROR',
  })
}

/** Providers with another name in the conventions. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['google.vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

async function* recordStream(
  model: Model,
  request: ModelRequest,
  span: WorkSpan,
): AsyncGenerator<ModelPart, void> {
  let attributes: Attributes | undefined
  try {
    for await (const part of inContext(span.context, () => model.stream(request))) {
      if (part.type === 'finish') attributes = finishAttributes(part)
      yield part
    }
    attributes ??= {}
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    if (attributes) span.end(attributes)
    else span.stop()
  }
}

function finishAttributes({ reason, usage }: Extract<ModelPart, { type: 'finish' }>): Attributes {
  const { inputTokens, outputTokens } = usage ?? {}
  return {
    'gen_ai.response.finish_reasons': [reason],
    ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
  }
}

/** A stream whose source runs with an active context: spans of a provider's client belong to it. */
function inContext<T>(active: Context, open: () => AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const source = context.with(active, () => open()[Symbol.asyncIterator]())
      return {
        next: () => context.with(active, () => source.next()),
        async return() {
          await context.with(active, () => source.return?.())
          return { done: true, value: undefined }
        },
      }
    },
  }
}

/** The span of one piece of work. The first end counts. Attributes are names, ids and numbers, never message content. */
export interface WorkSpan {
  /** The parent for spans of this work. */
  readonly context: Context
  /** False without an SDK, or when the trace is not sampled. */
  readonly isRecording: boolean
  end(attributes?: Attributes): void
  /** Ends it with the code of the error; as stopped, when the error only says that the work was aborted. */
  fail(error: unknown): void
  /** Ends it as cancelled. */
  stop(): void
  /** Ends it as interrupted, which is no failure. */
  interrupt(): void
}

export interface SpanOptions extends SpanParent {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  /** The code of errors that have none. */
  readonly fallback: ErrorCode
}

/** Starts a span. It ends with the run at the latest. */
export function startSpan({ name, kind, attributes, parent, signal, fallback }: SpanOptions): WorkSpan {
  const span = trace.getTracer('millrace').startSpan(name, { kind, attributes }, parent)
  const own = trace.setSpan(parent, span)
  if (!span.isRecording()) return { ...unrecorded, context: own }
  const open = parent.getValue(openSpansKey) as Set<WorkSpan> | undefined
  let isOver = false
  const finish = (more: Attributes, errorCode?: ErrorCode): void => {
    if (isOver) return
    isOver = true
    open?.delete(work)
    span.setAttributes(more)
    if (errorCode) span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode })
    span.end()
  }
  const work: WorkSpan = {
    context: own,
    isRecording: true,
    end: (more = {}) => finish(more),
    fail(error) {
      const hasCode = MillraceError.isInstance(error)
      const code = hasCode ? error.code : fallback
      if (!hasCode && signal.aborted && isAbortError(error, signal)) work.stop()
      else finish({ 'error.type': code }, code)
    },
    stop: () => finish({ 'millrace.outcome': 'cancelled' }),
    interrupt: () => finish({ 'millrace.outcome': 'interrupted' }),
  }
  open?.add(work)
  return work
}

function doNothing(): void {
  // Nothing is recorded.
}

const unrecorded = {
  isRecording: false,
  end: doNothing,
  fail: doNothing,
  stop: doNothing,
  interrupt: doNothing,
}

const openSpansKey = createContextKey('millrace.open-spans')

/** The parent context with the set of open spans. Not made by `setValue`, which copies all values: most runs have none. */
class OpenTrace implements RunTrace, Context {
  readonly #parent: Context
  #open: Set<WorkSpan> | undefined

  constructor(parent: Context) {
    this.#parent = parent
  }

  get context(): Context {
    return this
  }

  close(): void {
    for (const span of this.#open ?? []) span.stop()
  }

  getValue(key: symbol): unknown {
    return key === openSpansKey ? (this.#open ??= new Set()) : this.#parent.getValue(key)
  }

  setValue(key: symbol, value: unknown): Context {
    return this.#copy().setValue(key, value)
  }

  deleteValue(key: symbol): Context {
    return this.#copy().deleteValue(key)
  }

  #copy(): Context {
    return this.#parent.setValue(openSpansKey, this.getValue(openSpansKey))
  }
}
