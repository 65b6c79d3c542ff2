import { describe, expect, test } from 'vitest'
import { fromAiSdkUsage } from './usage.js'

const labels = { provider: 'p', model: 'm' }
const usageOf = (usage: unknown, providerMetadata?: Record<string, Record<string, unknown>>) =>
  fromAiSdkUsage(
    { type: 'finish', finishReason: 'stop', usage, ...(providerMetadata && { providerMetadata }) },
    labels,
  )

describe('nested usage, of versions 3 and 4', () => {
  test('is told with its parts, and the total is input plus output', () => {
    const usage = {
      inputTokens: { total: 100, noCache: 60, cacheRead: 30, cacheWrite: 10 },
      outputTokens: { total: 50, text: 30, reasoning: 20 },
      raw: {},
    }
    expect(usageOf(usage)).toEqual({
      ...labels,
      inputTokens: 100,
      outputTokens: 50,
      totalTokens: 150,
      reasoningTokens: 20,
      cachedInputTokens: 30,
      cacheWriteInputTokens: 10,
    })
  })

  test('leaves out what the provider does not know, for which some write 0', () => {
    const usage = {
      inputTokens: { total: 7, noCache: 7, cacheRead: 0, cacheWrite: undefined },
      outputTokens: { total: undefined, text: undefined, reasoning: NaN },
    }
    expect(usageOf(usage)).toEqual({ ...labels, inputTokens: 7 })
  })

  test('is read when only one side is there', () => {
    expect(usageOf({ outputTokens: { total: 3 } })).toEqual({ ...labels, outputTokens: 3 })
  })
})

describe('flat usage, of version 2', () => {
  test('is told as it is', () => {
    const usage = {
      inputTokens: 10,
      outputTokens: 5,
      totalTokens: 15,
      reasoningTokens: 3,
      cachedInputTokens: 4,
    }
    expect(usageOf(usage)).toEqual({ ...labels, ...usage })
  })

  test('gets the cached input that Anthropic counts apart', () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 15, cachedInputTokens: 100 }
    expect(usageOf(usage, { anthropic: { cacheCreationInputTokens: 20 } })).toEqual({
      ...labels,
      inputTokens: 130,
      outputTokens: 5,
      totalTokens: 135,
      cachedInputTokens: 100,
      cacheWriteInputTokens: 20,
    })
  })

  test('of Anthropic is known also when all input was cached', () => {
    const usage = { inputTokens: 0, outputTokens: 5, cachedInputTokens: 100 }
    expect(usageOf(usage, { anthropic: { cacheCreationInputTokens: null } })).toMatchObject({
      inputTokens: 100,
    })
  })

  test('gets the reasoning that Google counts apart', () => {
    const usage = { inputTokens: 10, outputTokens: 5, totalTokens: 22, reasoningTokens: 7 }
    expect(usageOf(usage)).toEqual({
      ...labels,
      inputTokens: 10,
      outputTokens: 12,
      totalTokens: 22,
      reasoningTokens: 7,
    })
  })

  test('keeps a total that stands alone', () => {
    expect(usageOf({ inputTokens: undefined, outputTokens: undefined, totalTokens: 9 })).toEqual({
      ...labels,
      totalTokens: 9,
    })
  })
})

test.each([
  undefined,
  null,
  {},
  { inputTokens: undefined, outputTokens: undefined, totalTokens: undefined },
  { inputTokens: NaN, outputTokens: NaN, totalTokens: NaN },
  { inputTokens: 0, outputTokens: 0, totalTokens: 0 },
  { inputTokens: '10', outputTokens: 1.5, totalTokens: -1 },
  { inputTokens: { total: 0 }, outputTokens: { total: NaN } },
])('nothing is told when nothing is known: %j', (usage) => {
  expect(usageOf(usage)).toBeUndefined()
})
