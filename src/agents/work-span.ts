import {
  context,
  createContextKey,
  SpanStatusCode,
  trace,
  type Attributes,
  type Context,
  type SpanKind,
} from '@opentelemetry/api'
import { isAbortError } from '../core/abort.js'
import type { ErrorCode } from '../core/error-codes.js'
import { MillraceError } from '../core/errors.js'

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
