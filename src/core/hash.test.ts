import { expect, it } from 'vitest'
import { stableHash } from './hash.js'

it('gives the values of FNV-1a', () => {
  expect(stableHash('')).toBe('cbf29ce484222325')
  expect(stableHash('a')).toBe('af63dc4c8601ec8c')
  expect(stableHash('foobar')).toBe('85944171f73967e8')
})
