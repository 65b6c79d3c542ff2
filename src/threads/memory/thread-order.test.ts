import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createSorted } from './thread-order.js'

test('values that come and go in any order stand in order', () => {
  const steps = fc.array(fc.record({ isAdded: fc.boolean(), value: fc.nat({ max: 30 }) }), { maxLength: 80 })
  fc.assert(
    fc.property(steps, fc.nat({ max: 30 }), (given, other) => {
      const sorted = createSorted<number>((a, b) => a - b)
      const model = new Set<number>()
      for (const { isAdded, value } of given) {
        if (!isAdded) sorted.remove(value)
        else if (!model.has(value)) sorted.add(value)
        if (isAdded) model.add(value)
        else model.delete(value)
      }
      const expected = [...model].sort((a, b) => a - b)
      expect([...sorted.values()]).toEqual(expected)
      expect(sorted.size).toBe(expected.length)
      expect([...sorted.backFrom()]).toEqual(expected.toReversed())
      expect([...sorted.backFrom(other)]).toEqual(expected.filter((value) => value < other).toReversed())
    }),
  )
})
