import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sliceWhole, wholeIndex } from './slice-text.js'

test('a cut inside a character moves behind it', () => {
  expect([0, 1, 2, 3, 4].map((index) => wholeIndex('a😀b', index))).toEqual([0, 1, 3, 3, 4])
  expect(sliceWhole('a😀b', 0, 2)).toBe('a😀')
  expect(sliceWhole('a😀b', 2)).toBe('b')
})

test('a lone half is a character of its own', () => {
  expect(wholeIndex('\ud83dx', 1)).toBe(1)
  expect(wholeIndex('x\ude00', 2)).toBe(2)
})

test('slices that follow each other make the whole text, and each is well formed', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('a', 'é', '語', '😀') }), fc.nat(20), (text, index) => {
      const cut = Math.min(index, text.length)
      const [head, tail] = [sliceWhole(text, 0, cut), sliceWhole(text, cut)]
      expect(head + tail).toBe(text)
      expect(encodeURIComponent(head) + encodeURIComponent(tail)).toBe(encodeURIComponent(text))
    }),
  )
})
