import type { TokenUsage } from '@ag-ui/core'
import {
  type Attributes,
  context,
  type Context,
  propagation,
  SpanKind,
  SpanStatusCode,
  type TextMapGetter,
  trace,
} from '@opentelemetry/api'

export interface RunSpanOptions {
  readonly agent: string
  readonly threadId: string
  readonly runId: string
  /** The headers of the request, which may name the trace that the run belongs to. */
  readonly headers?: Headers
}

/** How a run ended. No content of messages goes into a span, and of an error only its code. */
interface RunSpanEnd {
  readonly status: string
  readonly error?: { readonly code: string }
  readonly usage?: readonly TokenUsage[]
}

/** The trace span of one run. */
export interface RunSpan {
  /** The context for spans below this one. */
  readonly context: Context
  /** Must be called once. */
  end(outcome: RunSpanEnd): void
}

/**
 * Starts the span of a run. Its parent is the active span of this process, for example that of the HTTP request, or else the
 * span that the caller's `traceparent` names. Without an OpenTelemetry SDK nothing is recorded.
 */
export function startRunSpan({ agent, threadId, runId, headers }: RunSpanOptions): RunSpan {
  const parent = parentContext(headers)
  const attributes = {
    'gen_ai.agent.name': agent,
    'gen_ai.conversation.id': threadId,
    'millrace.thread.id': threadId,
    'millrace.run.id': runId,
  }
  const options = { kind: SpanKind.SERVER, attributes }
  const span = trace.getTracer('millrace').startSpan(`run ${agent}`, options, parent)
  return {
    context: span.isRecording() ? trace.setSpan(parent, span) : parent,
    end({ status, error, usage = [] }) {
      if (span.isRecording()) {
        span.setAttributes({ 'millrace.run.status': status, ...usageAttributes(usage) })
        if (error) {
          span.setAttribute('error.type', error.code)
          span.setStatus({ code: SpanStatusCode.ERROR, message: error.code })
        }
      }
      span.end()
    },
  }
}

function parentContext(headers: Headers | undefined): Context {
  const active = context.active()
  if (!headers || trace.getSpan(active)) return active
  return propagation.extract(active, headers, headerGetter)
}

const headerGetter: TextMapGetter<Headers> = {
  get: (headers, key) => headers.get(key) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/** Adds up the tokens of the run. Empty without token counts. */
function usageAttributes(usage: readonly TokenUsage[]): Attributes {
  const total = (name: 'inputTokens' | 'outputTokens', key: string): Attributes => {
    const counted = usage.flatMap((one) => one[name] ?? [])
    return counted.length === 0 ? {} : { [key]: counted.reduce((sum, tokens) => sum + tokens) }
  }
  return {
    ...total('inputTokens', 'gen_ai.usage.input_tokens'),
    ...total('outputTokens', 'gen_ai.usage.output_tokens'),
  }
}
