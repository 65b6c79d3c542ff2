import {
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  type TextMapPropagator,
  trace,
} from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type RecordedSpans, recordSpans } from '../../../test/support/record-spans.js'
import { startRunSpan } from './tracing.js'

const options = { agent: 'guide', threadId: 't1', runId: 'r1' }
const traceparent = `00-${'a'.repeat(32)}-${'b'.repeat(16)}-01`

/** Reads W3C trace context, as the one of an SDK does. */
const w3c: TextMapPropagator = {
  inject: () => undefined,
  fields: () => ['traceparent'],
  extract(parent, carrier, getter) {
    const found = /^00-(\w{32})-(\w{16})-(\w\w)$/.exec(String(getter.get(carrier, 'traceparent')))
    const [, traceId, spanId, flags] = found ?? []
    if (traceId === undefined || spanId === undefined) return parent
    return trace.setSpanContext(parent, { traceId, spanId, traceFlags: Number(flags), isRemote: true })
  },
}

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
  propagation.setGlobalPropagator(w3c)
})
afterEach(() => {
  spans.stop()
  propagation.disable()
})

describe('the span of a run', () => {
  test('says which run of which agent it is, and how it ended', () => {
    const span = startRunSpan(options)
    span.end({ status: 'completed' })
    const ended = spans.one('run guide')
    expect(ended).toMatchObject({ kind: SpanKind.SERVER, status: { code: SpanStatusCode.UNSET } })
    expect(ended.attributes).toEqual({
      'gen_ai.agent.name': 'guide',
      'gen_ai.conversation.id': 't1',
      'millrace.thread.id': 't1',
      'millrace.run.id': 'r1',
      'millrace.run.status': 'completed',
    })
  })

  test('is the parent of what is started with its context', () => {
    const span = startRunSpan(options)
    trace.getTracer('test').startSpan('below', {}, span.context).end()
    span.end({ status: 'completed' })
    expect(spans.tree()).toBe('run guide\n  below')
  })

  test('adds up the tokens of all models, and leaves out what nobody counted', () => {
    const usage = [{ inputTokens: 3 }, { model: 'm', inputTokens: 4 }, {}]
    startRunSpan(options).end({ status: 'completed', usage })
    const { attributes } = spans.one('run guide')
    expect(attributes['gen_ai.usage.input_tokens']).toBe(7)
    expect(attributes).not.toHaveProperty('gen_ai.usage.output_tokens')
  })

  test('has the code of an error, and not its message', () => {
    const error = { code: 'MODEL_ERROR', message: 'SECRET' }
    startRunSpan(options).end({ status: 'failed', error })
    const { status, attributes, events } = spans.one('run guide')
    expect(status).toEqual({ code: SpanStatusCode.ERROR, message: 'MODEL_ERROR' })
    expect(attributes['error.type']).toBe('MODEL_ERROR')
    expect(JSON.stringify({ attributes, events })).not.toContain('SECRET')
  })

  test.each(['interrupted', 'cancelled'])('of one that was %s has not failed', (status) => {
    startRunSpan(options).end({ status })
    expect(spans.one('run guide').status.code).toBe(SpanStatusCode.UNSET)
  })
})

describe('the parent of the span of a run', () => {
  test('is the one that the caller names', () => {
    startRunSpan({ ...options, headers: new Headers({ TraceParent: traceparent }) }).end({
      status: 'completed',
    })
    expect(spans.one('run guide').parentSpanContext).toMatchObject({
      traceId: 'a'.repeat(32),
      spanId: 'b'.repeat(16),
    })
  })

  test.each([{ headers: new Headers() }, { headers: new Headers({ traceparent: 'nonsense' }) }, {}])(
    'is none when nobody names one',
    (more) => {
      startRunSpan({ ...options, ...more }).end({ status: 'completed' })
      expect(spans.one('run guide').parentSpanContext).toBeUndefined()
    },
  )

  test('is the span that is active in this process before the one that the caller names', () => {
    const request = trace.getTracer('http').startSpan('POST /')
    context.with(trace.setSpan(ROOT_CONTEXT, request), () => {
      startRunSpan({ ...options, headers: new Headers({ traceparent }) }).end({ status: 'completed' })
    })
    request.end()
    expect(spans.tree()).toBe('POST /\n  run guide')
  })
})

test('without an SDK nothing is recorded and nothing fails', () => {
  spans.stop()
  const span = startRunSpan({ ...options, headers: new Headers({ traceparent }) })
  span.end({ status: 'failed', error: { code: 'MODEL_ERROR' }, usage: [{ inputTokens: 1 }] })
  expect(spans.all).toEqual([])
})
