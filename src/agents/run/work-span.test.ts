import { context, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { recordSpans, type RecordedSpans } from '../../../test/support/record-spans.js'
import { aborted, deferred, linted, play, settled } from '../../../test/support/run-agent.js'
import { MillraceError } from '../../core/errors.js'
import { scriptedModel, type Model, type Script } from '../../models/index.js'
import { agentTool } from '../tools/agent-tool.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import { run } from './run.js'
import { openTrace, startSpan } from './tracing.js'

const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })

function agentOf(script: Script, options: Partial<AgentOptions> = {}) {
  return defineAgent({ name: 'a', description: 'An agent.', model: scriptedModel(script), ...options })
}

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
})
afterEach(() => spans.stop())

function outcomesOf(): string[] {
  return spans.all.map(({ name, status, attributes }) => {
    const failed = status.code === SpanStatusCode.ERROR ? `failed ${status.message ?? ''}` : 'done'
    return `${name}: ${String(attributes['millrace.outcome'] ?? failed)}`
  })
}

test('an abort ends the spans of tools and subagents, none of them as failed', async () => {
  const controller = new AbortController()
  const wait = defineTool({
    name: 'wait',
    description: 'Waits.',
    async execute(_args, { signal }) {
      controller.abort()
      await aborted(signal)
      signal.throwIfAborted()
    },
  })
  const helper = agentOf([[call('c2', 'wait')]], { name: 'helper', tools: [wait] })
  const agent = agentOf([[call('c1', 'helper', { request: 'Help.' })]], { tools: [agentTool(helper)] })
  const { outcome } = await play(agent, 'Go.', { signal: controller.signal })
  expect(outcome.type).toBe('cancelled')
  expect(spans.open).toBe(0)
  expect(outcomesOf()).toEqual([
    'chat scripted: done',
    'chat scripted: done',
    'execute_tool wait: cancelled',
    'invoke_agent helper: cancelled',
    'execute_tool helper: cancelled',
  ])
})

test.each([
  ['nothing in particular', undefined, 'cancelled'],
  ['its time is over', new MillraceError('EXECUTION_TIMEOUT', 'Too long.'), 'failed EXECUTION_TIMEOUT'],
])('a model in mid-stream that is aborted because %s', async (_, reason, ended) => {
  const controller = new AbortController()
  const wait = (signal: AbortSignal) => {
    controller.abort(reason)
    return aborted(signal)
  }
  await play(agentOf([['Half ', { wait }]]), 'Go.', { signal: controller.signal })
  expect(outcomesOf()).toEqual([`chat scripted: ${ended}`])
})

test('a model that does not listen to the abort has its span ended with the run', async () => {
  const controller = new AbortController()
  const deaf: Model = {
    provider: 'p',
    modelId: 'deaf',
    async *stream() {
      yield { type: 'text-delta', delta: 'Half ' }
      await settled()
      controller.abort()
      await new Promise(() => undefined)
    },
  }
  const { outcome } = await play(agentOf([], { model: deaf }), 'Go.', {
    signal: controller.signal,
    graceMs: 1,
  })
  expect(outcome.type).toBe('cancelled')
  expect(outcomesOf()).toEqual(['chat deaf: cancelled'])
})

test('a tool that does not listen to the abort has its span ended with the run, and only once', async () => {
  const controller = new AbortController()
  const late = deferred()
  const deaf = defineTool({
    name: 'deaf',
    description: 'Does not listen.',
    execute() {
      controller.abort()
      return late.promise
    },
  })
  const agent = agentOf([[call('c1', 'deaf')]], { tools: [deaf] })
  await play(agent, 'Go.', { signal: controller.signal, graceMs: 1 })
  expect(spans.open).toBe(0)
  const before = outcomesOf()
  expect(before).toContain('execute_tool deaf: cancelled')
  late.resolve()
  await settled()
  expect(outcomesOf()).toEqual(before)
})

test('a reader that leaves early leaves no span open', async () => {
  const running = run(agentOf([['One ', 'two ', 'three.']]), 'Go.', { bufferSize: 1 })
  for await (const event of linted(running, 'Go.')) if (event.type === 'TEXT_MESSAGE_CONTENT') break
  await running.result
  expect(spans.open).toBe(0)
  expect(outcomesOf()).toEqual(['chat scripted: cancelled'])
})

test('the first end of a span counts', () => {
  const { context: parent } = openTrace(context.active())
  const { signal } = new AbortController()
  const work = startSpan({
    name: 'work',
    kind: SpanKind.INTERNAL,
    attributes: {},
    parent,
    signal,
    fallback: 'TOOL_ERROR',
  })
  work.end()
  work.fail(new Error('late'))
  work.stop()
  expect(outcomesOf()).toEqual(['work: done'])
})

test('an abort of the work itself, in a run that goes on, is a failure', () => {
  const { context: parent } = openTrace(context.active())
  const { signal } = new AbortController()
  const work = startSpan({
    name: 'work',
    kind: SpanKind.INTERNAL,
    attributes: {},
    parent,
    signal,
    fallback: 'TOOL_ERROR',
  })
  work.fail(new DOMException('its own', 'AbortError'))
  expect(outcomesOf()).toEqual(['work: failed TOOL_ERROR'])
})

test('without an SDK nothing is recorded, and the trace of the caller is passed on', () => {
  spans.stop()
  const spanContext = { traceId: '1'.repeat(32), spanId: '2'.repeat(16), traceFlags: 1 }
  const caller: Context = trace.setSpanContext(context.active(), spanContext)
  const { context: parent } = openTrace(caller)
  const { signal } = new AbortController()
  const work = startSpan({
    name: 'work',
    kind: SpanKind.INTERNAL,
    attributes: {},
    parent,
    signal,
    fallback: 'TOOL_ERROR',
  })
  expect(work.isRecording).toBe(false)
  expect(trace.getSpanContext(work.context)).toEqual(spanContext)
  work.fail(new Error('unseen'))
  expect(spans.all).toEqual([])
})
