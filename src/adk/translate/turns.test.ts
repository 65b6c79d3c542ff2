import type { Event } from '@google/adk'
import { describe, expect, test } from 'vitest'
import {
  adkEvent,
  pieceOf,
  responseOf,
  translateEvents,
  wholeOf,
} from '../../../test/support/adk/translate-events.js'

const stop = { finishReason: 'STOP' as never }
const call = (id: string) => ({ functionCall: { id, name: 'tool', args: {} } })
const used = (prompt: number, candidates: number, more = {}) => ({
  usageMetadata: {
    promptTokenCount: prompt,
    candidatesTokenCount: candidates,
    totalTokenCount: prompt + candidates,
    ...more,
  },
})
/** What came last for a client that AG-UI has no event for. */
const customs = (events: Event[]) =>
  translateEvents(events).loose.flatMap((event) =>
    event.type === 'CUSTOM' ? [[event.name, event.value]] : [],
  )

describe('tokens', () => {
  const totals = (events: Event[]) => translateEvents(events).usage.map(({ totalTokens }) => totalTokens)

  test('are told in the terms of AG-UI', () => {
    const usage = used(10, 5, {
      thoughtsTokenCount: 3,
      cachedContentTokenCount: 4,
      toolUsePromptTokenCount: 2,
    })
    expect(translateEvents([wholeOf('Hi', { ...stop, ...usage, modelVersion: 'gemini-x' })]).usage).toEqual([
      {
        model: 'gemini-x',
        inputTokens: 12,
        outputTokens: 8,
        totalTokens: 20,
        reasoningTokens: 3,
        cachedInputTokens: 4,
      },
    ])
  })

  test('that nobody counted are not told', () => {
    expect(totals([wholeOf('Hi', { usageMetadata: {} })])).toEqual([])
  })

  test('of a streamed answer are counted once, as the last event has them', () => {
    const usage = used(10, 6)
    expect(
      totals([
        pieceOf('a', used(10, 2)),
        pieceOf('b', { ...stop, ...usage }),
        wholeOf('ab', { ...stop, ...usage }),
      ]),
    ).toEqual([16])
  })

  test('of a turn with tools are counted once, with the event that ends it', () => {
    const usage = used(10, 6)
    const tail = adkEvent({ partial: false, ...stop, ...usage })
    const next = [pieceOf('x', used(30, 2)), wholeOf('x', { ...stop, ...used(30, 2) })]
    expect(
      totals([
        pieceOf('a'),
        wholeOf('a', usage),
        wholeOf([call('c')], { ...usage, ...stop }),
        responseOf('c', {}),
        tail,
        ...next,
      ]),
    ).toEqual([16, 32])
  })

  test('of an answer whose calls run while it comes in are counted once', () => {
    const events = [
      wholeOf([call('c1')], used(10, 2)),
      responseOf('c1', {}),
      wholeOf([call('c2')], { ...used(10, 4), ...stop }),
      responseOf('c2', {}),
    ]
    expect(totals([...events, adkEvent({ partial: false, ...used(10, 4), ...stop })])).toEqual([14])
  })

  test('of two calls that are not streamed are counted both, also when they are the same', () => {
    const whole = (id: string) => wholeOf([call(id)], used(10, 2))
    expect(totals([whole('c1'), responseOf('c1', {}), whole('c2'), responseOf('c2', {})])).toEqual([12, 12])
    const ended = (id: string) => wholeOf([call(id)], { ...used(10, 2), ...stop })
    expect(totals([ended('c1'), ended('c2')])).toEqual([12, 12])
  })

  test('of siblings are counted apart', () => {
    const a = { author: 'A', branch: 'p.A' }
    const b = { author: 'B', branch: 'p.B' }
    const events = [
      pieceOf('a', { ...a, ...used(1, 1) }),
      pieceOf('b', { ...b, ...used(5, 5) }),
      wholeOf('a', a),
      wholeOf('b', b),
    ]
    expect(totals(events)).toEqual([2, 10])
  })

  test('of an answer that broke off are counted, and the next one is another', () => {
    const events = [
      pieceOf('a', used(10, 2)),
      adkEvent({ errorCode: '500' }),
      pieceOf('b', used(10, 2)),
      wholeOf('b'),
    ]
    expect(totals(events)).toEqual([12, 12])
  })

  test('of an answer that was refused are counted once', () => {
    const usage = used(10, 0)
    const refused = { errorCode: 'SAFETY', finishReason: 'SAFETY' as never, ...usage }
    expect(totals([adkEvent(refused), adkEvent({ ...refused, partial: false })])).toEqual([10])
  })
})

describe('an error event', () => {
  const failed = adkEvent({ errorCode: '429', errorMessage: 'slow down' })

  test('is what the run failed with, when nothing useful comes after it', () => {
    const { translator, loose } = translateEvents([failed, adkEvent({ partial: false, ...used(1, 0) })])
    expect(translator.error).toEqual({ code: '429', message: 'slow down' })
    expect(loose).toEqual([])
  })

  test.each([
    ['text', pieceOf('Hi')],
    ['a call', wholeOf([call('c')])],
    ['an output', adkEvent({ output: 1 })],
  ])('is only told when %s comes after it', (_name, useful) => {
    const { translator, batches } = translateEvents([failed, useful])
    expect(translator.error).toBeUndefined()
    expect(batches[1]?.[0]).toEqual({
      type: 'CUSTOM',
      name: 'adk.error',
      value: { code: '429', author: 'root' },
    })
  })

  test('makes room for a later one, and comes once when it is repeated', () => {
    const { translator, loose } = translateEvents([failed, failed, adkEvent({ errorCode: '500' })])
    expect(translator.error).toEqual({ code: '500', message: '' })
    expect(loose).toMatchObject([{ name: 'adk.error', value: { code: '429' } }])
  })

  test('ends the text that was coming in', () => {
    expect(translateEvents([pieceOf('Hal'), failed]).batches[1]).toMatchObject([{ type: 'TEXT_MESSAGE_END' }])
  })

  test('with text is why the model stopped there, no error', () => {
    const cut = wholeOf('Once upon', { errorCode: 'MAX_TOKENS', finishReason: 'MAX_TOKENS' as never })
    expect(customs([pieceOf('Once upon'), cut])).toEqual([['adk.finish', { reason: 'MAX_TOKENS' }]])
    expect(translateEvents([cut]).translator.error).toBeUndefined()
    expect(customs([wholeOf('Once', { finishReason: 'MAX_TOKENS' as never })])).toEqual([
      ['adk.finish', { reason: 'MAX_TOKENS' }],
    ])
  })

  test('without text is an error when the model has said nothing, and else why it stopped', () => {
    const refused = adkEvent({ partial: false, errorCode: 'SAFETY', finishReason: 'SAFETY' as never })
    expect(translateEvents([pieceOf(''), refused]).translator.error?.code).toBe('SAFETY')
    expect(translateEvents([wholeOf('Hi', stop), pieceOf(''), refused]).translator.error?.code).toBe('SAFETY')
    expect(translateEvents([wholeOf([call('c')]), refused]).translator.error).toBeUndefined()
    expect(customs([wholeOf([call('c')]), refused])).toEqual([['adk.finish', { reason: 'SAFETY' }]])
  })

  test('that says STOP is none', () => {
    expect(translateEvents([adkEvent({ errorCode: 'STOP', ...stop })]).translator.error).toBeUndefined()
  })
})

describe('a retry', () => {
  const retry = wholeOf('Retry attempt 1/3 for agent execution', {
    author: 'system',
    errorCode: 'RETRY_ATTEMPT',
    errorMessage: 'Retry attempt 1/3 for agent execution',
  })

  test('is progress: it is told, ends what is open, and nothing failed', () => {
    const { batches, translator, messages } = translateEvents([
      pieceOf('Hal'),
      adkEvent({ errorCode: '500' }),
      retry,
      pieceOf('Hello'),
      wholeOf('Hello'),
    ])
    expect(batches[2]).toEqual([
      { type: 'CUSTOM', name: 'millrace.retry', value: { reason: 'Retry attempt 1/3 for agent execution' } },
    ])
    expect(translator.error).toBeUndefined()
    expect(messages.map(({ content }) => content)).toEqual(['Hal', 'Hello'])
    expect(translateEvents([pieceOf('Hal'), retry]).batches[1]?.[0]).toMatchObject({
      type: 'TEXT_MESSAGE_END',
    })
  })

  test('too many is an error', () => {
    const gaveUp = adkEvent({ author: 'system', errorCode: 'MAX_RETRIES_EXCEEDED', errorMessage: 'Gave up.' })
    const { translator, loose } = translateEvents([retry, gaveUp])
    expect(translator.error).toEqual({ code: 'MAX_RETRIES_EXCEEDED', message: 'Gave up.' })
    expect(loose).toHaveLength(1)
  })
})

describe('what AG-UI has no event for', () => {
  test('state is told once it is stored, not with pieces', () => {
    const actions = { stateDelta: { k: 1 } } as never
    const { batches } = translateEvents([pieceOf('a', { actions }), wholeOf('a', { actions })])
    expect(batches[0]?.map(({ type }) => type)).not.toContain('STATE_SNAPSHOT')
    expect(batches[1]?.at(-1)).toEqual({ type: 'STATE_SNAPSHOT', snapshot: { k: 1 } })
  })

  test('state that the client may not see is not told', () => {
    const actions = { stateDelta: { 'app:secret': 1 } } as never
    const seen: unknown[] = []
    const changeState = (delta: unknown) => void seen.push(delta)
    expect(translateEvents([adkEvent({ actions })], { changeState }).loose).toEqual([])
    expect(seen).toEqual([{ 'app:secret': 1 }])
  })

  test('artifacts are told, each version once', () => {
    const actions = { artifactDelta: { 'a.txt': 0, 'b.txt': 2 } } as never
    expect(customs([wholeOf('x', { actions }), wholeOf('y', { actions })])).toEqual([
      ['adk.artifact', { name: 'a.txt', version: 0 }],
      ['adk.artifact', { name: 'b.txt', version: 2 }],
    ])
  })

  test('sources and citations are told with their message, once', () => {
    const found = { groundingMetadata: { webSearchQueries: ['q'] }, citationMetadata: { citations: [] } }
    expect(
      customs([pieceOf('a', found), wholeOf('a', found), adkEvent({ partial: false, ...found })]),
    ).toEqual([
      ['adk.grounding', { messageId: 'message-1', metadata: { webSearchQueries: ['q'] } }],
      ['adk.citations', { messageId: 'message-1', metadata: { citations: [] } }],
    ])
  })

  test('metadata is told without our own mark, and when it is JSON', () => {
    const circular: Record<string, unknown> = {}
    circular.self = circular
    const marked = { customMetadata: { millrace: { runId: 'run' }, a: 1 } }
    expect(customs([wholeOf('x', marked)])).toEqual([['adk.metadata', { a: 1 }]])
    expect(customs([wholeOf('x', { customMetadata: { millrace: {} } })])).toEqual([])
    const { problems } = translateEvents([
      adkEvent({ customMetadata: circular }),
      adkEvent({ customMetadata: circular }),
    ])
    expect(problems).toEqual(['the metadata of an event is not JSON; it was left out'])
  })

  test('the progress of a tool is told at once, in the span of its agent, and touches nothing else', () => {
    const a = { author: 'A', branch: 'p.A' }
    const progress = adkEvent({ author: 'A', partial: true, customMetadata: { done: 0.5 } })
    const { batches } = translateEvents([wholeOf([call('c')], a), progress, responseOf('c', {}, a)])
    const tag = (batches[0]?.[0] as { subagentRunId: string }).subagentRunId
    expect(batches[1]).toEqual([
      { type: 'CUSTOM', name: 'adk.metadata', value: { done: 0.5 }, subagentRunId: tag },
    ])
    expect(batches[2]).toMatchObject([{ type: 'TOOL_CALL_RESULT', subagentRunId: tag }])
    expect(translateEvents([{ ...progress, author: 'my_tool' }]).loose).toEqual([
      { type: 'CUSTOM', name: 'adk.metadata', value: { done: 0.5 } },
    ])
  })

  test('code, its results and media are told', () => {
    const executableCode = { code: 'print(1)', language: 'PYTHON' as never }
    const codeExecutionResult = { outcome: 'OUTCOME_OK' as never, output: '1' }
    const inlineData = { mimeType: 'image/png', data: 'aGk=' }
    const fileData = { mimeType: 'image/png', fileUri: 'gs://b/i.png' }
    expect(
      customs([wholeOf([{ executableCode }, { codeExecutionResult }, { inlineData }, { fileData }])]),
    ).toEqual([
      ['adk.code', { executableCode }],
      ['adk.code', { codeExecutionResult }],
      ['adk.media', inlineData],
      ['adk.media', fileData],
    ])
  })

  test('parts that nobody knows are reported once', () => {
    const event = wholeOf([{ hologram: {} } as never, {}, { hologram: {} } as never])
    const { problems, loose } = translateEvents([event])
    expect([problems, loose]).toEqual([["parts with 'hologram' are not sent to clients"], []])
  })
})
