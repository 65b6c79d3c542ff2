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
  /** Of the request that asks for the run: they may name the trace it belongs to. */
  readonly headers?: Headers
}

/** How a run ended. Nothing that was said goes into a span: of an error, only the code. */
interface RunSpanEnd {
  readonly status: string
  readonly error?: { readonly code: string }
  readonly usage?: readonly TokenUsage[]
}

/** A run on its trace. */
export interface RunSpan {
  /** For what is done as part of the run. */
  readonly context: Context
  /** Must be called once. */
  end(outcome: RunSpanEnd): void
}

/**
 * Starts the span of a run. It is part of what the process is tracing already, a request for example, or else of the
 * trace that the caller's `traceparent` names. Without an OpenTelemetry SDK nothing is recorded.
 */
export function startRunSpan({ agent, threadId, runId, headers }: RunSpanOptions): RunSpan {
  const parent = parentOf(headers)
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
        span.setAttributes({ 'millrace.run.status': status, ...usageFacts(usage) })
        if (error) {
          span.setAttribute('error.type', error.code)
          span.setStatus({ code: SpanStatusCode.ERROR, message: error.code })
        }
      }
      span.end()
    },
  }
}

function parentOf(headers: Headers | undefined): Context {
  const active = context.active()
  // The header names the caller's span. One that is active here is its child, and nearer.
  if (!headers || trace.getSpan(active)) return active
  return propagation.extract(active, headers, headerGetter)
}

const headerGetter: TextMapGetter<Headers> = {
  get: (headers, key) => headers.get(key) ?? undefined,
  keys: (headers) => [...headers.keys()],
}

/** All tokens of the run; nothing when nobody has counted them. */
function usageFacts(usage: readonly TokenUsage[]): Attributes {
  const total = (name: 'inputTokens' | 'outputTokens', key: string): Attributes => {
    const counted = usage.flatMap((one) => one[name] ?? [])
    return counted.length === 0 ? {} : { [key]: counted.reduce((sum, tokens) => sum + tokens) }
  }
  return {
    ...total('inputTokens', 'gen_ai.usage.input_tokens'),
    ...total('outputTokens', 'gen_ai.usage.output_tokens'),
  }
}
