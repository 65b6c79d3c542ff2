import { AsyncLocalStorage } from 'node:async_hooks'
import {
  context,
  ROOT_CONTEXT,
  SpanStatusCode,
  trace,
  type Context,
  type ContextManager,
} from '@opentelemetry/api'
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  SamplingDecision,
  SimpleSpanProcessor,
  type ReadableSpan,
  type Sampler,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-base'

/** The spans that were ended while they were recorded. */
export interface RecordedSpans {
  readonly all: readonly ReadableSpan[]
  /** The only one of this name. Throws when there is none, or more. */
  one(name: string): ReadableSpan
  /** Every span by its name below that of its parent, in the order of their start, with `!code` for one that failed. */
  tree(): string
  /** How many were started and not ended. */
  readonly open: number
  stop(): void
}

/** Registers an SDK that keeps spans in memory, with ambient contexts, until `stop` is called. */
export function recordSpans(): RecordedSpans {
  const exporter = new InMemorySpanExporter()
  const started: string[] = []
  const starts: SpanProcessor = {
    onStart: (span) => void started.push(span.spanContext().spanId),
    onEnd: () => undefined,
    forceFlush: () => Promise.resolve(),
    shutdown: () => Promise.resolve(),
  }
  let isStopped = false
  // Libraries keep the first tracer that records: it must not record for the rest of the process.
  const sampler: Sampler = {
    shouldSample: () => ({
      decision: isStopped ? SamplingDecision.NOT_RECORD : SamplingDecision.RECORD_AND_SAMPLED,
    }),
  }
  const spanProcessors = [starts, new SimpleSpanProcessor(exporter)]
  const provider = new BasicTracerProvider({ sampler, spanProcessors })
  trace.setGlobalTracerProvider(provider)
  context.setGlobalContextManager(ambientContexts())
  return {
    get all() {
      return exporter.getFinishedSpans()
    },
    one(name) {
      const [found, ...others] = exporter.getFinishedSpans().filter((span) => span.name === name)
      if (!found || others.length > 0) throw new Error(`There is not one '${name}'.`)
      return found
    },
    tree() {
      const byId = new Map(exporter.getFinishedSpans().map((span) => [span.spanContext().spanId, span]))
      return toTree(started.flatMap((id) => byId.get(id) ?? []))
    },
    get open() {
      return started.length - exporter.getFinishedSpans().length
    },
    stop() {
      isStopped = true
      trace.disable()
      context.disable()
    },
  }
}

function ambientContexts(): ContextManager {
  const storage = new AsyncLocalStorage<Context>()
  const manager: ContextManager = {
    active: () => storage.getStore() ?? ROOT_CONTEXT,
    with: (active, work, thisArg, ...args) => storage.run(active, () => work.apply(thisArg, args)),
    bind: (_, target) => target,
    enable: () => manager,
    disable: () => manager,
  }
  return manager
}

function toTree(spans: readonly ReadableSpan[]): string {
  const ids = new Set(spans.map((span) => span.spanContext().spanId))
  const below = (parentId: string | undefined, indent: string): string[] =>
    spans
      .filter(({ parentSpanContext }) => parentSpanContext?.spanId === parentId)
      .flatMap((span) => [`${indent}${describe(span)}`, ...below(span.spanContext().spanId, `${indent}  `)])
  const stray = spans.filter(({ parentSpanContext: p }) => p !== undefined && !ids.has(p.spanId))
  return [...below(undefined, ''), ...stray.map((span) => `? ${describe(span)}`)].join('\n')
}

function describe({ name, status }: ReadableSpan): string {
  return status.code === SpanStatusCode.ERROR ? `${name} !${status.message ?? ''}` : name
}
