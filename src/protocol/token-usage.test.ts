import { describe, expect, it } from 'vitest'
import { sumUsage } from './index.js'

describe('sumUsage', () => {
  const whole = { model: 'm', inputTokens: 10, outputTokens: 5, totalTokens: 15 }

  it.each([
    ['no total', { inputTokens: 4, outputTokens: 2 }, { inputTokens: 14, outputTokens: 7, totalTokens: 21 }],
    ['the input alone', { inputTokens: 4 }, { inputTokens: 14, outputTokens: 5, totalTokens: 19 }],
    [
      'input and total',
      { inputTokens: 4, totalTokens: 6 },
      { inputTokens: 14, outputTokens: 7, totalTokens: 21 },
    ],
    [
      'broken counts',
      { inputTokens: NaN, outputTokens: 1.5 },
      { inputTokens: 10, outputTokens: 5, totalTokens: 15 },
    ],
    [
      'a total that counts differently',
      { inputTokens: 4, outputTokens: 2, totalTokens: 99 },
      { inputTokens: 14, outputTokens: 7, totalTokens: 21 },
    ],
    ['nothing', {}, { inputTokens: 10, outputTokens: 5, totalTokens: 15 }],
  ])('adds up to input plus output when one call reports %s', (_, other, sum) => {
    expect(sumUsage([whole, { model: 'm', ...other }])).toEqual([{ model: 'm', ...sum }])
  })

  it('keeps a reported total where neither input nor output is known', () => {
    expect(sumUsage([{ totalTokens: 7 }, { totalTokens: 1 }])).toEqual([{ totalTokens: 8 }])
  })

  it('reports no total when one of its parts is not known', () => {
    expect(sumUsage([{ model: 'm', inputTokens: 7 }])).toEqual([{ model: 'm', inputTokens: 7 }])
  })
})
