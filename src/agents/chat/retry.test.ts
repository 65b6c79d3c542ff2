import { describe, expect, test } from 'vitest'
import {
  createClient,
  inputOf,
  ofType,
  play,
  rejectedIn,
  resultsIn,
} from '../../../test/support/run-agent.js'
import { manualClock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { scriptedModel, type Model, type Script } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { lintEvents } from '../../testing/index.js'
import { InterruptSignal } from '../interrupts/interrupt-scope.js'
import { defineTool } from '../tools/define-tool.js'
import type { RetryOptions } from '../retry/retry-policy.js'
import { run } from '../run/run.js'
import { defineAgent, type AgentOptions } from './chat-agent.js'

const busy = { error: { status: 503, message: 'busy' } }
const refused = { error: { status: 400, message: 'refused' } }
const call = (id: string) => ({ toolCall: { id, name: 'look' } })
const look = defineTool({ name: 'look', description: 'Looks.', execute: () => 'seen' })

function agentOf(script: Script, options: Partial<AgentOptions> = {}) {
  const model = scriptedModel(script, { provider: 'p', modelId: 'one' })
  const agent = defineAgent({ name: 'a', model, tools: [look], retry: { initialDelayMs: 0 }, ...options })
  return { model, agent }
}

function retriesIn(events: readonly AgUiEvent[]) {
  return ofType(events, 'CUSTOM').flatMap(({ name, value }) =>
    name === 'millrace.retry' ? [value as object] : [],
  )
}

describe('an attempt that fails and is tried again', () => {
  test('has its text closed, marked and left out of what the model is shown', async () => {
    const { agent, model } = agentOf([
      ['Half an ', busy],
      ['Half a ', { reasoning: 'Hm.' }, busy],
      'Whole.',
      'More.',
    ])
    const client = createClient(agent)
    const { events, outcome } = await client.say('Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Whole.' })
    const ids = ofType(events, 'TEXT_MESSAGE_START').map(({ messageId }) => messageId)
    expect(retriesIn(events)).toMatchObject([
      { attempt: 1, model: 'p/one', next: 'same-model', delayMs: 0, messageIds: [ids[0]] },
      { attempt: 2, model: 'p/one', next: 'same-model' },
    ])
    expect(outcome.messages.map(({ content }) => content)).toEqual(['Go.', 'Whole.'])
    expect(rejectedIn(events).map(({ content, metadata }) => [content, metadata])).toEqual([
      ['Half an ', { millrace: { rejected: expect.any(String) as string } }],
      ['Half a ', { millrace: { rejected: expect.any(String) as string } }],
      ['Hm.', { millrace: { rejected: expect.any(String) as string } }],
    ])
    for (const { messages } of model.requests) expect(JSON.stringify(messages)).not.toContain('Half')
    await client.say('And?')
    expect(model.requests[3]?.messages.map(({ content }) => content)).toEqual(['Go.', 'Whole.', 'And?'])
  })

  test('has its calls answered, and none of them is carried out', async () => {
    let looked = 0
    const count = defineTool({ name: 'look', description: 'Looks.', execute: () => String(++looked) })
    const { agent, model } = agentOf([[call('c1'), busy], [call('c1')], 'Done.', 'More.'], { tools: [count] })
    const client = createClient(agent)
    const { events } = await client.say('Go.')
    const results = resultsIn(events)
    expect(results).toHaveLength(2)
    expect(results[0]).toMatch(/^c1: This call was rejected/)
    expect(results[1]).toMatch(/: 1$/)
    expect(looked).toBe(1)
    await client.say('And?')
    expect(model.requests.at(-1)?.messages.map(({ role }) => role)).toEqual([
      ...['user', 'assistant', 'tool', 'assistant', 'user'],
    ])
  })

  test('has its calls to the client answered too: nobody is to carry them out', async () => {
    const paint = { name: 'paint', description: 'Paints.' }
    const call = { toolCall: { id: 'c1', name: 'paint' } }
    const { agent } = agentOf([[call, busy], 'Done.'])
    const request = { messages: [], tools: [paint] }
    const running = run(agent, request)
    const events: AgUiEvent[] = []
    for await (const event of running) events.push(event)
    expect(lintEvents(events, { input: inputOf(request, running) })).toEqual([])
    expect(await running.result).toMatchObject({ type: 'completed', text: 'Done.', pendingToolCalls: [] })
  })

  test('waits as long as the policy says', async () => {
    const clock = manualClock()
    const retry: RetryOptions = { attempts: 3, initialDelayMs: 100, factor: 3, jitter: 0 }
    const { agent, model } = agentOf([[busy], [busy], 'Yes.'], { retry })
    const playing = play(agent, 'Go.', { clock })
    await clock.advance(99)
    expect(model.requests).toHaveLength(1)
    await clock.advance(1)
    expect(model.requests).toHaveLength(2)
    await clock.advance(299)
    expect(model.requests).toHaveLength(2)
    await clock.advance(1)
    expect((await playing).outcome).toMatchObject({ type: 'completed', text: 'Yes.' })
  })

  test('is not the text of the run when nothing else was said', async () => {
    const direct = defineTool({
      name: 'look',
      description: 'Looks.',
      returnDirectly: true,
      execute: () => 'seen',
    })
    const { agent } = agentOf([['Half', busy], [call('c1')]], { tools: [direct] })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({ type: 'completed', text: '', result: 'seen' })
  })
})

describe('an attempt that is not tried again', () => {
  test('because it is refused ends the run with what the model said', async () => {
    const { agent, model } = agentOf([['Half', refused], 'Never.'])
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'failed', error: { code: 'MODEL_ERROR', message: 'refused' } })
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'MODEL_ERROR' })
    expect(retriesIn(events)).toEqual([])
    expect(model.requests).toHaveLength(1)
  })

  test('is left out of what the model is shown later all the same', async () => {
    const { agent, model } = agentOf([['Half', call('c1'), refused], 'Whole.'])
    const client = createClient(agent)
    await client.say('Go.')
    await client.say('Again.')
    expect(model.requests[1]?.messages.map(({ content }) => content)).toEqual(['Go.', 'Again.'])
  })

  test('because there are no attempts left says how many there were', async () => {
    const { agent } = agentOf([[busy], [busy]], { retry: { attempts: 2, initialDelayMs: 0 } })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({
      type: 'failed',
      error: {
        code: 'MODEL_ERROR',
        message: expect.stringContaining('p/one gave up after 2 attempts') as string,
        cause: { message: 'busy' },
      },
    })
  })

  test('because only one attempt is allowed fails at once', async () => {
    const { agent, model } = agentOf([[busy], 'Never.'], { retry: { attempts: 1 } })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({
      type: 'failed',
      error: { code: 'MODEL_ERROR' },
    })
    expect(model.requests).toHaveLength(1)
  })
})

describe('a verdict', () => {
  test('sees output and error, and may reject what the model said', async () => {
    const seen: unknown[] = []
    const { agent, model } = agentOf(
      [[busy], ['No.', call('c1')], ['Yes.', { usage: { outputTokens: 1 } }]],
      {
        retry: {
          initialDelayMs: 0,
          attempts: 4,
          verdict: ({ attempt, answer, error }) => {
            seen.push([
              attempt,
              answer?.text,
              answer?.toolCalls.length,
              (error as Error | undefined)?.message,
            ])
            return answer?.text === 'No.' ? { retry: true, reason: 'too short', delayMs: 0 } : undefined
          },
        },
      },
    )
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Yes.' })
    expect(seen).toEqual([
      [1, undefined, undefined, 'busy'],
      [2, 'No.', 1, undefined],
      [3, 'Yes.', 0, undefined],
    ])
    expect(retriesIn(events).at(-1)).toMatchObject({ reason: 'too short', attempt: 2 })
    expect(model.requests).toHaveLength(3)
  })

  test('may change the conversation for the next attempt, and for that alone', async () => {
    const { agent, model } = agentOf(['No.', [call('c1')], 'Yes.'], {
      retry: {
        verdict: ({ answer, request }) =>
          answer?.text === 'No.'
            ? {
                retry: true,
                reason: 'again',
                delayMs: 0,
                messages: [...request.messages, { id: 'hint', role: 'user', content: 'Say yes.' }],
              }
            : undefined,
      },
    })
    await play(agent, 'Go.')
    expect(model.requests.map(({ messages }) => messages.some(({ id }) => id === 'hint'))).toEqual([
      ...[false, true, false],
    ])
  })

  test('of nothing accepts', async () => {
    const { agent } = agentOf(['Yes.'], { retry: { attempts: 1, verdict: () => undefined } })
    expect((await play(agent, 'Go.')).outcome.type).toBe('completed')
  })

  test('that rejects and has no attempt left fails', async () => {
    const { agent } = agentOf(['No.'], {
      retry: { attempts: 1, verdict: () => ({ retry: true, reason: 'never good enough' }) },
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({
      type: 'failed',
      error: { message: expect.stringContaining('never good enough') as string },
    })
    expect(rejectedIn(events)).toMatchObject([{ metadata: { millrace: { rejected: 'never good enough' } } }])
    expect(outcome.messages.map(({ content }) => content)).toEqual(['Go.'])
  })
})

describe('another model', () => {
  const other = (script: Script, modelId = 'two') => scriptedModel(script, { provider: 'q', modelId })

  test('answers when the first one gives up, and each is paid for', async () => {
    const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 }
    const second = other([
      [call('c1'), { usage }],
      ['Done.', { usage }],
    ])
    const { agent, model } = agentOf([['Half', busy], [busy], ['From one.', { usage }]], {
      failover: [second],
      retry: { attempts: 2, initialDelayMs: 0, verdict: () => undefined },
    })
    const { events, outcome } = await play(agent, 'Go.')
    expect(retriesIn(events)).toMatchObject([
      { model: 'p/one', next: 'same-model' },
      { model: 'p/one', next: 'other-model', attempt: 2 },
    ])
    expect(outcome).toMatchObject({ type: 'completed', text: 'From one.' })
    expect(model.requests).toHaveLength(3)
    expect(second.requests).toHaveLength(1)
    expect(outcome.usage).toEqual([
      { provider: 'q', model: 'two', ...usage },
      { provider: 'p', model: 'one', ...usage },
    ])
  })

  test('answers also when the first one refuses', async () => {
    const { agent } = agentOf([['Half', refused]], { failover: [other(['Whole.'])] })
    const { events, outcome } = await play(agent, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Whole.' })
    expect(retriesIn(events)).toMatchObject([{ next: 'other-model', model: 'p/one' }])
    expect(rejectedIn(events)).toMatchObject([{ content: 'Half', metadata: { millrace: {} } }])
  })

  test('is told from the first one also when it is the same', async () => {
    const { agent, model } = agentOf([])
    const same = scriptedModel([['Half', refused], [refused], 'Whole.'], { provider: 'p', modelId: 'one' })
    const twice = defineAgent({ name: 'a', model: same, failover: [other([[refused]]), same, same] })
    const { events, outcome } = await play(twice, 'Go.')
    expect(outcome).toMatchObject({ type: 'completed', text: 'Whole.' })
    expect(retriesIn(events)).toHaveLength(3)
    expect([agent.name, model.requests.length]).toEqual(['a', 0])
  })

  test('that gives up too ends the run with its failure', async () => {
    const { agent } = agentOf([[refused]], {
      failover: [other([[{ error: { status: 401, message: 'no key' } }]])],
    })
    expect((await play(agent, 'Go.')).outcome).toMatchObject({ type: 'failed', error: { message: 'no key' } })
  })

  test.each<[string, () => Error]>([
    ['an abort', () => new DOMException('stopped', 'AbortError')],
    ['an interrupt', () => new InterruptSignal({ openInterrupts: [], frames: {} })],
  ])('is not called after %s, nor is the first one again', async (_what, error) => {
    const second = other(['Never.'])
    const { agent, model } = agentOf([[{ error: error() }], 'Never.'], { failover: [second] })
    const { outcome } = await play(agent, 'Go.')
    expect(outcome.type).toBe('failed')
    expect([model.requests.length, second.requests.length]).toEqual([1, 0])
  })
})

test('an error that a middleware throws is not hidden behind a retry', async () => {
  const { agent, model } = agentOf(['Never.'], {
    middlewares: [
      {
        model() {
          throw new MillraceError('INVALID_AGENT', 'Not like this.')
        },
      },
    ],
  })
  expect((await play(agent, 'Go.')).outcome).toMatchObject({ error: { code: 'INVALID_AGENT' } })
  expect(model.requests).toHaveLength(0)
})

test('a model that breaks off without a word of its end fails the run, not the process', async () => {
  const model: Model = {
    provider: 'p',
    modelId: 'm',
    async *stream() {
      yield await Promise.resolve({ type: 'text-delta', delta: 'Half' })
      throw Object.create(null) as Error
    },
  }
  const { outcome } = await play(defineAgent({ name: 'a', model }), 'Go.')
  expect(outcome.type).toBe('failed')
})
