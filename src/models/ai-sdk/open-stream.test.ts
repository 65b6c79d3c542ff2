import { describe, expect, test } from 'vitest'
import { request } from '../../../test/e2e/support-models-parts.js'
import type { ModelRequest } from '../contract.js'
import { toCallOptions } from './open-stream.js'

const { signal } = new AbortController()
const optionsOf = (fields: Partial<ModelRequest>) => toCallOptions(request(fields), [], signal)
const tool = { name: 'weather', description: 'Tells the weather.' }
const parameters = { type: 'object', properties: { city: { type: 'string' } } }

test('a plain request has a prompt and a signal, and nothing else', () => {
  expect(optionsOf({})).toEqual({ prompt: [], abortSignal: signal })
})

test('settings are passed on under their names', () => {
  const settings = {
    temperature: 0.1,
    topP: 0.2,
    maxOutputTokens: 3,
    stopSequences: ['x'],
    seed: 4,
    providerOptions: { openai: { store: false } },
  }
  expect(optionsOf({ settings })).toEqual({ prompt: [], abortSignal: signal, ...settings })
})

describe('tools', () => {
  test('become functions with a schema, also those without parameters', () => {
    expect(optionsOf({ tools: [{ ...tool, parameters, metadata: { x: 1 } }, tool] }).tools).toEqual([
      { type: 'function', ...tool, inputSchema: parameters },
      { type: 'function', ...tool, inputSchema: { type: 'object', properties: {} } },
    ])
  })

  test.each([
    ['auto' as const, { type: 'auto' }],
    ['none' as const, { type: 'none' }],
    ['required' as const, { type: 'required' }],
    [{ toolName: 'weather' }, { type: 'tool', toolName: 'weather' }],
  ])('are chosen by %j', (toolChoice, expected) => {
    expect(optionsOf({ tools: [tool], toolChoice }).toolChoice).toEqual(expected)
  })

  test('leave no choice when there are none', () => {
    expect(optionsOf({ tools: [], toolChoice: 'required' })).toEqual({ prompt: [], abortSignal: signal })
  })
})

test('a shape for the answer is asked for as JSON', () => {
  expect(optionsOf({ output: { name: 'city', schema: parameters } }).responseFormat).toEqual({
    type: 'json',
    name: 'city',
    schema: parameters,
  })
  expect(optionsOf({ output: { schema: parameters } }).responseFormat).toEqual({
    type: 'json',
    schema: parameters,
  })
})
