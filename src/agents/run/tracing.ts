import {
  context,
  createContextKey,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  SpanKind,
} from '@opentelemetry/api'
import { isAbortError } from '../../core/abort.js'
import type { ErrorCode } from '../../core/error-codes.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../../models/index.js'

/** The trace of a run. */
export interface RunTrace {
  /** What the spans of the run are part of. */
  readonly context: Context
  /** Ends the spans that are still open, of work that was left behind. */
  close(): void
}

/**
 * One piece of work of a run, as a span. The first end counts, others are ignored. Facts are names, ids and numbers,
 * never anything that was said.
 */
export interface WorkSpan {
  /** For what is done as part of this work. */
  readonly context: Context
  /** False when nobody looks: without an SDK, or when the trace is not sampled. */
  readonly isRecording: boolean
  end(facts?: Attributes): void
  /** Failed, with the code of the error; stopped, when the error only says that the work was aborted. */
  fail(error: unknown): void
  /** Cancelled, or nobody wants it any more. */
  stop(): void
  /** Waits for a person. That is no failure. */
  interrupt(): void
}

export interface Work {
  readonly name: string
  readonly kind: SpanKind
  readonly attributes: Attributes
  readonly parent: Context
  readonly signal: AbortSignal
  /** The code of errors that have none. */
  readonly fallback: ErrorCode
}

const openSpansKey = createContextKey('millrace.open-spans')

/** Begins the trace of a run. By default it is part of what the caller is doing. */
export function openTrace(parent: Context = context.active()): RunTrace {
  return new OpenTrace(parent)
}

/**
 * The parent with one value more. Not made by `setValue`, which copies all values: every run has one of these, and most
 * never start a span.
 */
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

/** Starts the span of a piece of work. What nobody ends is ended with the run. */
export function startWork({ name, kind, attributes, parent, signal, fallback }: Work): WorkSpan {
  const span = trace.getTracer('millrace').startSpan(name, { kind, attributes }, parent)
  const own = trace.setSpan(parent, span)
  if (!span.isRecording()) return { ...unseen, context: own }
  const open = parent.getValue(openSpansKey) as Set<WorkSpan> | undefined
  let isOver = false
  const finish = (facts: Attributes, errorCode?: ErrorCode): void => {
    if (isOver) return
    isOver = true
    open?.delete(work)
    span.setAttributes(facts)
    if (errorCode) span.setStatus({ code: SpanStatusCode.ERROR, message: errorCode })
    span.end()
  }
  const work: WorkSpan = {
    context: own,
    isRecording: true,
    end: (facts = {}) => finish(facts),
    fail(error) {
      const isCoded = MillraceError.isInstance(error)
      const code = isCoded ? error.code : fallback
      if (!isCoded && signal.aborted && isAbortError(error, signal)) work.stop()
      else finish({ 'error.type': code }, code)
    },
    stop: () => finish({ 'millrace.outcome': 'cancelled' }),
    interrupt: () => finish({ 'millrace.outcome': 'interrupted' }),
  }
  open?.add(work)
  return work
}

function ignore(): void {
  // Nobody looks.
}

const unseen = { isRecording: false, end: ignore, fail: ignore, stop: ignore, interrupt: ignore }

/** Where a piece of work belongs, and what stops it. */
export interface SpanPlace {
  readonly parent: Context
  readonly signal: AbortSignal
}

/** A subagent at work. Names and attributes, here and below, are those of OpenTelemetry for generative AI. */
export function agentSpan(name: string, place: SpanPlace): WorkSpan {
  return startWork({
    ...place,
    name: `invoke_agent ${name}`,
    kind: SpanKind.INTERNAL,
    attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': name },
    fallback: 'AGENT_ERROR',
  })
}

/** A tool at work. Without a name when there is no such tool: then the name is something the model said. */
export function toolSpan(
  { id, name }: { readonly id: string; readonly name?: string },
  place: SpanPlace,
): WorkSpan {
  return startWork({
    ...place,
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

/**
 * What a model answers, with a span around it. When nobody looks this is the stream of the model itself, so that
 * tracing costs nothing for each part.
 */
export function tracedAnswer(model: Model, request: ModelRequest, parent: Context): AsyncIterable<ModelPart> {
  return {
    [Symbol.asyncIterator]() {
      const span = modelSpan(model, { parent, signal: request.signal })
      const source = span.isRecording ? observed(model, request, span) : model.stream(request)
      return source[Symbol.asyncIterator]()
    },
  }
}

function modelSpan({ provider, modelId }: Model, place: SpanPlace): WorkSpan {
  return startWork({
    ...place,
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

/** Providers that the conventions call by another name. */
const providerNames: ReadonlyMap<string, string> = new Map([
  ['google', 'gcp.gemini'],
  ['google.vertex', 'gcp.vertex_ai'],
  ['amazon-bedrock', 'aws.bedrock'],
  ['mistral', 'mistral_ai'],
  ['xai', 'x_ai'],
])

async function* observed(
  model: Model,
  request: ModelRequest,
  span: WorkSpan,
): AsyncGenerator<ModelPart, void> {
  let facts: Attributes | undefined
  try {
    for await (const part of within(span.context, () => model.stream(request))) {
      if (part.type === 'finish') facts = answerFacts(part)
      yield part
    }
    facts ??= {}
  } catch (error) {
    span.fail(error)
    throw error
  } finally {
    if (facts) span.end(facts)
    else span.stop()
  }
}

function answerFacts({ reason, usage }: Extract<ModelPart, { type: 'finish' }>): Attributes {
  const { inputTokens, outputTokens } = usage ?? {}
  return {
    'gen_ai.response.finish_reasons': [reason],
    ...(inputTokens === undefined ? {} : { 'gen_ai.usage.input_tokens': inputTokens }),
    ...(outputTokens === undefined ? {} : { 'gen_ai.usage.output_tokens': outputTokens }),
  }
}

/** A stream whose source works inside of a span: those that a provider's client makes belong to it. */
function within<T>(own: Context, open: () => AsyncIterable<T>): AsyncIterable<T> {
  return {
    [Symbol.asyncIterator]() {
      const source = context.with(own, () => open()[Symbol.asyncIterator]())
      return {
        next: () => context.with(own, () => source.next()),
        async return() {
          await context.with(own, () => source.return?.())
          return { done: true, value: undefined }
        },
      }
    },
  }
}
