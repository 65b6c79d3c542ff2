import { context, SpanKind, SpanStatusCode, trace, type Context } from '@opentelemetry/api'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { recordSpans, type RecordedSpans } from '../../../test/support/record-spans.js'
import { createClient, idOf, play, settled } from '../../../test/support/run-agent.js'
import { MillraceError } from '../../core/errors.js'
import { sequentialIds } from '../../core/ids.js'
import { scriptedModel, type Model, type Script } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { agentTool } from '../tools/agent-tool.js'
import { defineAgent, type AgentOptions } from '../chat/chat-agent.js'
import { defineTool } from '../tools/define-tool.js'
import type { RunOptions } from './run.js'
import type { Tool, ToolContext } from '../contract.js'

const usage = { inputTokens: 12, outputTokens: 5 }
const busy = { error: { status: 503, message: 'busy with SECRET' } }
const call = (id: string, name: string, args: unknown = {}) => ({ toolCall: { id, name, args } })

function toolOf(name: string, execute: (ctx: ToolContext) => unknown): Tool {
  return defineTool({ name, description: 'A tool.', execute: (_args, ctx) => execute(ctx) })
}

const look = toolOf('look', () => 'seen')

function agentOf(script: Script, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script, { provider: 'google', modelId: 'one' })
  const retry = { initialDelayMs: 0 }
  return defineAgent({ name: 'a', description: 'An agent.', model, tools: [look], retry, ...options })
}

let spans: RecordedSpans
beforeEach(() => {
  spans = recordSpans()
})
afterEach(() => spans.stop())

/** Runs something inside a span, as a server does. */
async function inRoot<T>(work: (trace: Context) => Promise<T>): Promise<T> {
  const root = trace.getTracer('test').startSpan('root')
  try {
    return await work(trace.setSpan(context.active(), root))
  } finally {
    root.end()
  }
}

/** The events with made ids numbered as they come up: which of two parallel calls gets its id first is nobody's business. */
function numberIds(events: readonly AgUiEvent[], made: ReadonlySet<string>): unknown {
  const numbers = new Map<string, string>()
  const numbered = (_key: string, value: unknown): unknown => {
    if (typeof value !== 'string' || !made.has(value)) return value
    const number = numbers.get(value) ?? `id ${numbers.size + 1}`
    numbers.set(value, number)
    return number
  }
  return JSON.parse(JSON.stringify(events, numbered))
}

describe('a run', () => {
  test('has its models and tools as spans below the one it is given', async () => {
    const agent = agentOf([
      ['Hm. ', call('c1', 'look'), { usage }],
      ['Done.', { usage }],
    ])
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.tree()).toBe(['root', '  chat one', '  execute_tool look', '  chat one'].join('\n'))
    const [first, second] = spans.all.filter(({ name }) => name === 'chat one')
    expect(first).toMatchObject({ kind: SpanKind.CLIENT, status: { code: SpanStatusCode.UNSET } })
    expect(first?.attributes).toEqual({
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'gcp.gemini',
      'gen_ai.request.model': 'one',
      'gen_ai.response.finish_reasons': ['tool-calls'],
      'gen_ai.usage.input_tokens': 12,
      'gen_ai.usage.output_tokens': 5,
    })
    expect(second?.attributes).toMatchObject({ 'gen_ai.response.finish_reasons': ['stop'] })
    const tool = spans.one('execute_tool look')
    expect(tool.kind).toBe(SpanKind.INTERNAL)
    expect(tool.attributes).toEqual({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': 'look',
      'gen_ai.tool.call.id': 'c1',
      'gen_ai.tool.type': 'function',
    })
  })

  test('belongs to what is active where it is started, unless it is told otherwise', async () => {
    const agent = agentOf(['Done.', 'Done.'])
    await inRoot((active) => context.with(active, () => play(agent, 'Go.')))
    expect(spans.tree()).toBe('root\n  chat one')
  })

  test('says nothing of what was said', async () => {
    const SECRET = 'SECRET'
    const fail = toolOf('fail', () => {
      throw new Error(SECRET)
    })
    const agent = agentOf(
      [
        [{ reasoning: SECRET }, SECRET, busy],
        [SECRET, call('c1', 'look', { SECRET }), call('c2', 'fail', SECRET), call('c3', SECRET)],
        SECRET,
      ],
      { instructions: SECRET, tools: [look, fail] },
    )
    await inRoot((trace) => play(agent, SECRET, { trace }))
    expect(spans.tree().split('\n').sort()).toEqual([
      '  chat one',
      '  chat one',
      '  chat one !MODEL_ERROR',
      '  execute_tool !TOOL_ERROR',
      '  execute_tool fail !INVALID_TOOL_ARGUMENTS',
      '  execute_tool look',
      'root',
    ])
    for (const { name, attributes, status, events, links } of spans.all)
      expect(JSON.stringify({ name, attributes, status, events, links })).not.toContain(SECRET)
  })

  const helps = call('c2', 'helper', { request: 'Help.' })
  test.each<[string, Script]>([
    ['one after the other', [['Half ', busy], [call('c1', 'look'), { usage }], [helps, { usage }], 'Done.']],
    ['in parallel', [['Half ', busy], [call('c1', 'look'), helps, { usage }], 'Done.']],
  ])('sends the same events whether anybody looks or not, with calls %s', async (_, script) => {
    const eventsOf = async (options: RunOptions = {}) => {
      const helper = agentOf([[call('c3', 'look')], 'Helped.'], { name: 'helper' })
      const agent = agentOf(script, { tools: [look, agentTool(helper)] })
      const request = {
        threadId: 't',
        runId: 'r',
        messages: [{ id: 'u', role: 'user', content: 'Go.' } as const],
      }
      const made = new Set<string>()
      const ids = sequentialIds()
      const newId = (prefix?: string) => {
        const id = ids(prefix)
        made.add(id)
        return id
      }
      const { events } = await play(agent, request, { newId, ...options })
      return numberIds(events, made)
    }
    const traced = await inRoot((trace) => eventsOf({ trace }))
    expect(spans.all.length).toBeGreaterThan(5)
    spans.stop()
    const before = spans.all.length
    expect(await eventsOf()).toEqual(traced)
    expect(spans.all).toHaveLength(before)
  })
})

describe('a model', () => {
  test('has a span for each attempt, and the failed one has the code of the error', async () => {
    const agent = agentOf([['Half ', busy], 'Whole.'])
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.tree()).toBe(['root', '  chat one !MODEL_ERROR', '  chat one'].join('\n'))
    expect(spans.all[0]?.attributes['error.type']).toBe('MODEL_ERROR')
  })

  test('works inside of its span: what its client traces is below it', async () => {
    const model: Model = {
      provider: 'p',
      modelId: 'm',
      async *stream() {
        trace.getTracer('client').startSpan('before').end()
        await settled()
        yield { type: 'text-delta', delta: 'Done.' }
        trace.getTracer('client').startSpan('after').end()
        yield { type: 'finish', reason: 'stop' }
      },
    }
    await inRoot((trace) => play(agentOf([], { model }), 'Go.', { trace }))
    expect(spans.tree()).toBe(['root', '  chat m', '    before', '    after'].join('\n'))
  })

  test('has no span when a middleware answers in its place', async () => {
    const agent = agentOf([], {
      middlewares: [
        {
          async *model() {
            await settled()
            yield { type: 'text-delta', delta: 'Known.' }
            yield { type: 'finish', reason: 'stop' }
          },
        },
      ],
    })
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.tree()).toBe('root')
  })

  test('that a middleware hears only in part has ended', async () => {
    const agent = agentOf(['One. ', 'Two.'], {
      middlewares: [
        {
          async *model(request, next) {
            for await (const part of next(request)) {
              yield part
              break
            }
            yield { type: 'finish', reason: 'stop' }
          },
        },
      ],
    })
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.open).toBe(0)
    expect(spans.one('chat one').attributes['millrace.outcome']).toBe('cancelled')
  })
})

describe('a tool', () => {
  test('that fails has the code of its error, and the run goes on', async () => {
    const fail = toolOf('fail', () => {
      throw new MillraceError('STORE_ERROR', 'No room.')
    })
    const odd = toolOf('odd', () => {
      throw new TypeError('Odd.')
    })
    const agent = agentOf([[call('c1', 'fail'), call('c2', 'odd')], 'Done.'], { tools: [fail, odd] })
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.tree()).toBe(
      [
        'root',
        '  chat one',
        '  execute_tool fail !STORE_ERROR',
        '  execute_tool odd !TOOL_ERROR',
        '  chat one',
      ].join('\n'),
    )
  })

  test('runs inside of its span, also as a generator and with a time limit', async () => {
    const steps = defineTool({
      name: 'steps',
      description: 'A tool.',
      timeoutMs: 1000,
      async *execute() {
        trace.getTracer('tool').startSpan('one').end()
        await settled()
        yield 'half'
        trace.getTracer('tool').startSpan('two').end()
        return 'done'
      },
    })
    const agent = agentOf([[call('c1', 'steps')], 'Done.'], { tools: [steps] })
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.tree()).toBe(
      ['root', '  chat one', '  execute_tool steps', '    one', '    two', '  chat one'].join('\n'),
    )
  })

  test('that is interrupted has not failed', async () => {
    const book = toolOf('book', async ({ interrupt }) => (await interrupt({ message: 'Book?' })).status)
    const client = createClient(agentOf([[call('c1', 'book')], 'Done.'], { tools: [book] }))
    const asked = await inRoot((trace) => client.say('Go.', { trace }))
    const waiting = spans.one('execute_tool book')
    expect(waiting.status.code).toBe(SpanStatusCode.UNSET)
    expect(waiting.attributes['millrace.outcome']).toBe('interrupted')
    await client.answer({ [idOf(asked)]: true })
    const again = spans.all.findLast(({ name }) => name === 'execute_tool book')
    expect(again).not.toBe(waiting)
    expect(again?.attributes['millrace.outcome']).toBeUndefined()
  })
})

describe('a subagent', () => {
  test('has a span below the call that runs it, with all it does below', async () => {
    const helper = agentOf([[call('c2', 'look')], 'Helped.'], { name: 'helper' })
    const agent = agentOf([[call('c1', 'helper', { request: 'Help.' })], 'Done.'], {
      tools: [agentTool(helper)],
    })
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.tree()).toBe(
      [
        'root',
        '  chat one',
        '  execute_tool helper',
        '    invoke_agent helper',
        '      chat one',
        '      execute_tool look',
        '      chat one',
        '  chat one',
      ].join('\n'),
    )
    expect(spans.one('invoke_agent helper')).toMatchObject({
      kind: SpanKind.INTERNAL,
      attributes: { 'gen_ai.operation.name': 'invoke_agent', 'gen_ai.agent.name': 'helper' },
    })
  })

  test('that fails has the code of its error', async () => {
    const helper = agentOf([[{ error: { status: 400 } }]], { name: 'helper' })
    const agent = agentOf([[call('c1', 'helper', { request: 'Help.' })], 'Done.'], {
      tools: [agentTool(helper)],
    })
    await inRoot((trace) => play(agent, 'Go.', { trace }))
    expect(spans.one('invoke_agent helper').status).toEqual({
      code: SpanStatusCode.ERROR,
      message: 'MODEL_ERROR',
    })
  })
})
