import { describe, expect, test } from 'vitest'
import { fromEncryptedValue, toEncryptedValue } from './encrypted-value.js'

describe('an encrypted value', () => {
  test('gives back the metadata it was made of', () => {
    const metadata = { anthropic: { signature: 'abc' }, openai: { itemId: 'rs_1', content: null } }
    const { encryptedValue } = toEncryptedValue(metadata)
    expect(encryptedValue).toBe(JSON.stringify(metadata))
    expect(fromEncryptedValue(encryptedValue)).toEqual({ providerOptions: metadata })
  })

  test.each([[undefined], [{}], [{ openai: {} }]])(
    'is absent when there is nothing to keep: %j',
    (metadata) => {
      expect(toEncryptedValue(metadata)).toEqual({})
    },
  )

  test.each([
    undefined,
    '',
    'opaque',
    'null',
    '"text"',
    '[{}]',
    '{"openai":"text"}',
    '{"openai":[]}',
    '{"openai":null}',
  ])('of other origin gives nothing back: %j', (value) => {
    expect(fromEncryptedValue(value)).toEqual({})
  })
})
