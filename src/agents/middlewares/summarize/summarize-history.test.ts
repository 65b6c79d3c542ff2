import type { Message, TokenUsage } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MillraceError } from '../../../core/errors.js'
import type { FinishReason, Model, ModelPart, ModelRequest } from '../../../models/index.js'
import type { RunContext } from '../../contract.js'
import { findFirstKept, summarizeHistory, type SummarizeHistoryOptions } from './summarize-history.js'

const prompt = 'Sum up.'
const options: SummarizeHistoryOptions = {
  maxTokens: 100,
  keepTokens: 30,
  userTokens: 20,
  inputTokens: 200,
  prompt,
}

interface Answer {
  readonly text?: string
  readonly usage?: TokenUsage
  readonly reason?: FinishReason
}

/** An agent with a middleware and a model that numbers its summaries. */
function setUp(
  chosen: SummarizeHistoryOptions = options,
  answer: (request: ModelRequest) => Answer = numbered(),
) {
  const requests: ModelRequest[] = []
  const used: TokenUsage[] = []
  const values = new Map<string, unknown>()
  async function* next(request: ModelRequest): AsyncGenerator<ModelPart> {
    requests.push({ ...request, messages: [...request.messages] })
    await Promise.resolve()
    const { text = 'Fine.', usage, reason = 'stop' } = answer(request)
    yield { type: 'reasoning-delta', delta: 'hm' }
    yield { type: 'text-delta', delta: text.slice(0, 2) }
    yield { type: 'text-delta', delta: text.slice(2) }
    yield { type: 'text-end' }
    yield { type: 'finish', reason, ...(usage && { usage }) }
  }

  /** Asks once, in a run that may just have been resumed, and gives what the model got. */
  async function send(messages: readonly Message[], request: Partial<ModelRequest> = {}, address = 'root') {
    // The middleware needs no more of the context.
    const ctx = {
      span: { address },
      values,
      services: { addUsage: (usage: TokenUsage) => used.push(usage) },
    } as unknown as RunContext
    const asks: ModelRequest = {
      messages: Object.freeze(messages),
      signal: new AbortController().signal,
      ...request,
    }
    const parts: ModelPart[] = []
    const middleware = summarizeHistory(chosen)
    for await (const part of middleware.model?.(asks, next, ctx) ?? []) parts.push(part)
    return { got: requests.at(-1)?.messages ?? [], parts, request: asks }
  }

  return { send, requests, used, values, summaryCalls: () => requests.filter(isSummaryCall) }
}

function isSummaryCall({ instructions }: ModelRequest): boolean {
  return instructions?.startsWith('Sum') === true
}

function numbered(): (request: ModelRequest) => Answer {
  let count = 0
  return (request) => (isSummaryCall(request) ? { text: `Summary ${++count}.` } : {})
}

/** A message of ten tokens. */
function text(id: string, role: 'user' | 'assistant' = 'assistant'): Message {
  return { id, role, content: `${id} `.padEnd(40, 'x') }
}

function texts(prefix: string, count: number): Message[] {
  return Array.from({ length: count }, (_, index) => text(`${prefix}${index}`))
}

function ids(messages: readonly Message[]): string[] {
  return messages.map(({ id }) => id)
}

describe('a conversation that is short enough', () => {
  test('passes on as the same request', async () => {
    const agent = setUp()
    const messages = texts('m', 10)
    const { request, parts } = await agent.send(messages)
    expect(agent.requests).toEqual([request])
    expect(parts.map(({ type }) => type)).toEqual([
      'reasoning-delta',
      'text-delta',
      'text-delta',
      'text-end',
      'finish',
    ])
    expect([...agent.values.keys()]).toEqual([])
  })

  test('counts instructions and tools too', async () => {
    const agent = setUp()
    await agent.send(texts('m', 9), { instructions: 'x'.repeat(36) })
    expect(agent.summaryCalls()).toHaveLength(0)
    await agent.send(texts('m', 9), { instructions: 'x'.repeat(44) })
    expect(agent.summaryCalls()).toHaveLength(1)
    await agent.send(texts('n', 9), { tools: [{ name: 'book', description: 'Books a room in a hotel.' }] })
    expect(agent.summaryCalls()).toHaveLength(2)
  })
})

describe('a conversation that is too long', () => {
  test('is cut, with a summary in place of the older part', async () => {
    const agent = setUp()
    const { got, parts } = await agent.send([text('u1', 'user'), ...texts('m', 10)])
    expect(ids(got)).toEqual(['m6:summary', 'm7', 'm8', 'm9'])
    expect(got[0]).toMatchObject({ role: 'user', content: expect.stringContaining('Summary 1.') as string })
    expect(got[0]).toMatchObject({ content: expect.stringContaining('<user>\nu1 xxx') as string })
    expect(parts.filter(({ type }) => type === 'text-delta')).toEqual([
      { type: 'text-delta', delta: 'Fi' },
      { type: 'text-delta', delta: 'ne.' },
    ])
  })

  test('keeps system and developer messages at its beginning', async () => {
    const agent = setUp()
    const lead: Message[] = [
      { id: 's', role: 'system', content: 'Be brief.' },
      { id: 'd', role: 'developer', content: 'Be kind.' },
    ]
    const { got } = await agent.send([
      ...lead,
      ...texts('m', 5),
      { id: 's2', role: 'system', content: 'Hm.' },
      ...texts('n', 5),
    ])
    expect(ids(got)).toEqual(['s', 'd', 'n1:summary', 'n2', 'n3', 'n4'])
    expect(agent.summaryCalls()[0]?.messages[0]?.content).not.toContain('Be brief.')
  })

  test('never parts a call from its results', async () => {
    const agent = setUp()
    const call: Message = {
      id: 'call',
      role: 'assistant',
      toolCalls: [{ id: 'c1', type: 'function', function: { name: 'book', arguments: '{}' } }],
    }
    const result: Message = { id: 'result', role: 'tool', toolCallId: 'c1', content: 'x'.repeat(80) }
    const { got } = await agent.send([...texts('m', 9), call, result, text('u1', 'user')])
    expect(ids(got)).toEqual(['result:summary', 'u1'])
  })

  test('is cut piece by piece when it is too long for one call, in which the prompt counts too', async () => {
    const agent = setUp({ ...options, inputTokens: 80, prompt: prompt.padEnd(80) })
    await agent.send(texts('m', 30))
    const calls = agent.summaryCalls()
    expect(calls.length).toBeGreaterThan(3)
    for (const { messages } of calls) expect(messages[0]?.content?.length).toBeLessThanOrEqual(4 * 60)
    expect(calls.at(-1)?.messages[0]?.content).toContain(`Summary ${calls.length - 1}.`)
  })

  test('passes on as it is when there is nothing to cut', async () => {
    const agent = setUp()
    const page: Message = { id: 'u1', role: 'user', content: 'x'.repeat(1_000) }
    const { request } = await agent.send([{ id: 's', role: 'system', content: 'Be brief.' }, page])
    expect(agent.requests).toEqual([request])
  })

  test('keeps its summary when there is nothing more to cut', async () => {
    const agent = setUp()
    const page: Message = { id: 'u1', role: 'user', content: 'x'.repeat(1_000) }
    await agent.send([...texts('m', 3), page])
    const { got } = await agent.send([...texts('m', 3), page])
    expect(agent.summaryCalls()).toHaveLength(1)
    expect(ids(got)).toEqual(['m2:summary', 'u1'])
  })

  test('asks for the summary with the signal and the provider options of the request alone', async () => {
    const agent = setUp()
    const providerOptions = { openai: { store: false } }
    const tools = [{ name: 'book', description: 'Books.' }]
    const settings = { maxOutputTokens: 5, stopSequences: ['.'], providerOptions }
    const { request } = await agent.send(texts('m', 11), { tools, toolChoice: 'required', settings })
    expect(agent.requests).toEqual([
      {
        instructions: prompt,
        messages: [
          { id: 'conversation', role: 'user', content: expect.stringContaining('m0 xxx') as string },
        ],
        settings: { providerOptions },
        signal: request.signal,
      },
      { ...request, messages: agent.requests[1]?.messages },
    ])
  })
})

describe('a summary', () => {
  test('is made once and used again while the conversation fits', async () => {
    const agent = setUp()
    const messages = texts('m', 11)
    const { got: first } = await agent.send(messages)
    const { got: second } = await agent.send([...messages, text('n0')])
    expect(agent.summaryCalls()).toHaveLength(1)
    expect(second).toEqual([...first, text('n0')])
  })

  test('is JSON in the values of the run, so it is there when the run is resumed', async () => {
    const agent = setUp()
    const messages = texts('m', 11)
    await agent.send(messages)
    expect(Object.fromEntries(agent.values)).toEqual({
      'millrace:summary:root': { upTo: 'm7', text: 'Summary 1.' },
    })
    const resumed = setUp()
    for (const [key, value] of agent.values) resumed.values.set(key, JSON.parse(JSON.stringify(value)))
    const { got } = await resumed.send(messages)
    expect(resumed.summaryCalls()).toHaveLength(0)
    expect(ids(got)).toEqual(['m7:summary', 'm8', 'm9', 'm10'])
  })

  test('is extended when the conversation has outgrown it', async () => {
    const agent = setUp()
    const messages = [...texts('m', 11), ...texts('n', 5)]
    await agent.send(messages.slice(0, 11))
    const { got } = await agent.send(messages)
    const [, extension] = agent.summaryCalls()
    expect(agent.summaryCalls()).toHaveLength(2)
    expect(extension?.messages[0]?.content).toMatch(
      /^<summary>\nSummary 1\.\n<\/summary>\n\n<conversation>\nAssistant: m8/,
    )
    expect(ids(got)).toEqual(['n1:summary', 'n2', 'n3', 'n4'])
    expect(got[0]).toMatchObject({ content: expect.stringContaining('Summary 2.') as string })
  })

  test('is not used for a conversation it does not belong to', async () => {
    const agent = setUp()
    await agent.send(texts('m', 11))
    const { request } = await agent.send(texts('other', 3))
    expect(agent.requests.at(-1)).toEqual(request)
    agent.values.set('millrace:summary:root', { upTo: 's', text: 'Nothing.' })
    const { request: shifted } = await agent.send([
      { id: 's', role: 'system', content: 'Be brief.' },
      text('m0'),
    ])
    expect(agent.requests.at(-1)).toEqual(shifted)
    const { request: elsewhere } = await agent.send(texts('m', 10), {}, 'root/helper')
    expect(agent.requests.at(-1)).toEqual(elsewhere)
  })

  test('that is not one is ignored', async () => {
    for (const value of [null, 'm7', {}, { upTo: 7, text: 'x' }, { upTo: 'm7' }]) {
      const agent = setUp()
      agent.values.set('millrace:summary:root', value).set('millrace:measured:root', value)
      const { request } = await agent.send(texts('m', 10))
      expect(agent.requests).toEqual([request])
    }
  })

  test('counts as usage of the run', async () => {
    const agent = setUp(options, () => ({
      text: 'Short.',
      usage: { model: 'm-1', inputTokens: 70, outputTokens: 3 },
    }))
    await agent.send(texts('m', 11))
    // That of the answer itself is counted by the agent.
    expect(agent.used).toEqual([{ model: 'm-1', inputTokens: 70, outputTokens: 3 }])
  })
})

describe('another model for summaries', () => {
  test('is requests instead, and its usage has its name', async () => {
    const requests: ModelRequest[] = []
    const model: Model = {
      provider: 'small',
      modelId: 'small-1',
      async *stream(request) {
        requests.push(request)
        await Promise.resolve()
        yield { type: 'text-delta', delta: 'In short.' }
        yield { type: 'finish', reason: 'stop', usage: { inputTokens: 7 } }
      },
    }
    const agent = setUp({ ...options, model })
    const { got } = await agent.send(texts('m', 11), { settings: { providerOptions: { big: {} } } })
    expect(agent.summaryCalls()).toHaveLength(0)
    expect(requests).toHaveLength(1)
    expect(requests[0]).not.toHaveProperty('settings')
    expect(got[0]).toMatchObject({ content: expect.stringContaining('In short.') as string })
    expect(agent.used).toEqual([{ provider: 'small', model: 'small-1', inputTokens: 7 }])
  })
})

describe('when no summary can be made', () => {
  test.each<[string, Answer, string]>([
    ['empty', { text: '' }, 'is empty'],
    ['broken off', { text: 'They', reason: 'length' }, 'is not whole (length)'],
    ['refused', { text: 'They', reason: 'content-filter' }, 'is not whole (content-filter)'],
  ])('the call fails: %s', async (_, answer, what) => {
    const agent = setUp(options, () => answer)
    await expect(agent.send(texts('m', 11))).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining(what) as string,
    })
    expect(agent.requests.every(isSummaryCall)).toBe(true)
    expect([...agent.values.keys()]).toEqual([])
  })

  test('the error of the model passes on, and the next attempt starts again', async () => {
    const failure = new MillraceError('MODEL_ERROR', 'overloaded', { details: { retryable: true } })
    let isFirst = true
    const agent = setUp(options, () => {
      if (!isFirst) return { text: 'Summary.' }
      isFirst = false
      throw failure
    })
    await expect(agent.send(texts('m', 11))).rejects.toBe(failure)
    const { got } = await agent.send(texts('m', 11))
    expect(ids(got)).toEqual(['m7:summary', 'm8', 'm9', 'm10'])
  })
})

describe('what the provider counted', () => {
  test('is taken for what it counted, and the rest is guessed', async () => {
    const agent = setUp(options, (request) =>
      isSummaryCall(request) ? { text: 'Short.' } : { usage: { inputTokens: 85 } },
    )
    const messages = texts('m', 5)
    await agent.send(messages)
    await agent.send([...messages, text('n0')])
    expect(agent.summaryCalls()).toHaveLength(0)
    await agent.send([...messages, text('n0'), text('n1'), text('n2')])
    expect(agent.summaryCalls()).toHaveLength(1)
  })

  test('says nothing any more once there is another summary', async () => {
    const counts = [200, undefined, undefined]
    const agent = setUp(options, (request) => {
      if (isSummaryCall(request)) return { text: 'Short.' }
      const inputTokens = counts.shift()
      return inputTokens === undefined ? {} : { usage: { inputTokens } }
    })
    const messages = texts('m', 8)
    await agent.send(messages)
    await agent.send([...messages, text('n0')])
    await agent.send([...messages, text('n0'), text('n1')])
    expect(agent.summaryCalls()).toHaveLength(1)
  })

  test('makes no summary of the little that is to be kept anyway', async () => {
    const agent = setUp(options, () => ({ usage: { inputTokens: 500 } }))
    await agent.send(texts('m', 3))
    const { request } = await agent.send(texts('m', 3))
    expect(agent.requests.at(-1)).toEqual(request)
  })
})

test('an estimate of the user’s own is used for all', async () => {
  const agent = setUp({
    ...options,
    estimate: ({ content }) => (content === prompt ? 1 : 30),
    inputTokens: 1_000,
  })
  const { got } = await agent.send(texts('m', 4))
  expect(ids(got)).toEqual(['m2:summary', 'm3'])
})

test('by default the limit is 120,000 tokens, a quarter to keep, an eighth for the user’s words', async () => {
  const agent = setUp({})
  const page = (id: string): Message => ({ id, role: 'user', content: id.padEnd(20_000, 'x') })
  const pages = Array.from({ length: 25 }, (_, index) => page(`p${index}`))
  await agent.send(pages.slice(0, 24))
  expect(agent.summaryCalls()).toHaveLength(0)
  const { got } = await agent.send(pages)
  expect(ids(got)).toEqual(['p18:summary', 'p19', 'p20', 'p21', 'p22', 'p23', 'p24'])
  expect(got[0]?.content).toMatch(
    /<\/summary>\nIn it .*\n<user>\np16x+\n<\/user>\n<user>\np17x+\n<\/user>\n<user>\np18x+\n<\/user>$/,
  )
  expect(agent.summaryCalls()).toHaveLength(2)
  for (const { messages } of agent.summaryCalls())
    expect(messages[0]?.content?.length).toBeLessThanOrEqual(4 * 60_000)
})

test.each<SummarizeHistoryOptions>([
  { maxTokens: 0 },
  { maxTokens: NaN },
  { maxTokens: 500 },
  { maxTokens: 1_000, keepTokens: 1_001 },
  { maxTokens: 10_000, keepTokens: 6_000, userTokens: 5_000 },
  { inputTokens: 100 },
])('refuses %o', (wrong) => {
  expect(() => summarizeHistory(wrong)).toThrow(expect.objectContaining({ code: 'INVALID_AGENT' }))
})

describe('the first message that is kept', () => {
  /** `u` user, `t` text of the assistant, `r` reasoning, `A` a call of a, `a` its result. */
  function conversation(letters: string): Message[] {
    return Array.from(letters, (letter, position): Message => {
      const id = `m${position}`
      if (letter === 'u') return { id, role: 'user', content: '' }
      if (letter === 't') return { id, role: 'assistant', content: '' }
      if (letter === 'r') return { id, role: 'reasoning', content: '' }
      if (letter >= 'a') return { id, role: 'tool', toolCallId: letter, content: '' }
      const call = { name: letter, arguments: '' }
      return {
        id,
        role: 'assistant',
        toolCalls: [{ id: letter.toLowerCase(), type: 'function', function: call }],
      }
    })
  }

  /** Where the kept part begins, shown by a bar. Every message counts one token. */
  function cut(letters: string, keepTokens: number, from = 0): string {
    const position = findFirstKept(conversation(letters), { from, keepTokens, estimate: () => 1 })
    return `${letters.slice(0, position)}|${letters.slice(position)}`
  }

  describe('the kept part', () => {
    test.each([
      ['is as much as fits', 'ututut', 2, 'utut|ut'],
      ['leaves out a single message', 'ututut', 5, 'u|tutut'],
      ['is all when all fits', 'ututut', 6, '|ututut'],
      ['is the last message when nothing fits', 'utu', 0, 'ut|u'],
      ['begins behind results rather than with them', 'uAaAau', 2, 'uAaAa|u'],
      ['begins with a call', 'uAaAau', 3, 'uAa|Aau'],
      ['never parts parallel calls from their results', 'uABabt', 3, 'uABab|t'],
      ['never parts a call from a result that came late', 'uAuat', 3, 'uAua|t'],
      ['is a call with its results when nothing smaller can stand alone', 'utAaaa', 1, 'ut|Aaaa'],
      ['keeps reasoning with the answer', 'utrtu', 2, 'utrt|u'],
      ['begins with reasoning', 'utrtu', 3, 'ut|rtu'],
      ['may follow reasoning that led nowhere', 'utru', 1, 'utr|u'],
      ['may follow results without a call', 'uzzu', 1, 'uzz|u'],
      ['never begins with a result without a call', 'uzzu', 2, 'uzz|u'],
    ])('%s: %s, %d', (_, letters, keepTokens, expected) => {
      expect(cut(letters, keepTokens)).toBe(expected)
    })

    test('is all when there is nothing else it could be', () => {
      expect(cut('Aaaa', 1)).toBe('|Aaaa')
      expect(cut('u', 0)).toBe('|u')
      expect(cut('', 0)).toBe('|')
    })

    test('never begins before it may', () => {
      expect(cut('utut', 3, 2)).toBe('ut|ut')
      expect(cut('ututut', 1, 2)).toBe('ututu|t')
      expect(cut('utAa', 0, 2)).toBe('ut|Aa')
    })
  })

  test('in any conversation, the kept part begins validly and holds no more than asked unless it must', () => {
    const letters = fc.string({
      unit: fc.constantFrom('u', 't', 'r', 'A', 'B', 'a', 'b'),
      minLength: 1,
      maxLength: 15,
    })
    fc.assert(
      fc.property(letters, fc.nat(10), fc.nat(5), (text, keepTokens, start) => {
        const from = Math.min(start, text.length)
        const messages = conversation(text)
        const position = findFirstKept(messages, { from, keepTokens, estimate: () => 1 })
        expect(position).toBeGreaterThanOrEqual(from)
        if (position === from) return
        expect(
          messages.slice(0, position).filter((_, index) => hasLaterResult(text, index, position)),
        ).toEqual([])
        expect(messages[position]?.role).not.toBe('tool')
        if (text.length - position <= keepTokens) return
        const smaller = Array.from({ length: text.length - position - 1 }, (_, index) => position + 1 + index)
        expect(smaller.filter((later) => canBegin(text, later))).toEqual([])
      }),
    )
  })

  /** Whether the call at this place has its result at or behind `position`. The last call before a result is its own. */
  function hasLaterResult(text: string, index: number, position: number): boolean {
    const letter = text[index] ?? ''
    if (letter !== 'A' && letter !== 'B') return false
    const again = text.indexOf(letter, index + 1)
    const results = text.slice(index + 1, again === -1 ? undefined : again)
    return (
      results.lastIndexOf(letter.toLowerCase()) + index + 1 >= position &&
      results.includes(letter.toLowerCase())
    )
  }

  function canBegin(text: string, position: number): boolean {
    const letter = text[position] ?? ''
    if (letter === 'a' || letter === 'b') return false
    if (text[position - 1] === 'r' && /[tAB]/.test(letter)) return false
    return !Array.from(text.slice(0, position), (_, index) => hasLaterResult(text, index, position)).includes(
      true,
    )
  }
})
