import { describe, expect, it } from 'vitest'

import { parseRunInput } from './parse-run-input.js'

const minimal = { threadId: 't', runId: 'r', messages: [] }
const defaults = { state: {}, tools: [], context: [], resume: [] }
const user = (content: unknown) => ({ id: 'u', role: 'user', content })
const image = { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const assistant = (members: object) => ({ id: 'a', role: 'assistant', ...members })
const inMessages = (...messages: unknown[]) => ({ ...minimal, messages })

describe('what the protocol does not know', () => {
  const unknownSource = { type: 'image', source: { type: 's3', value: 'x' } }
  const member = 'unknown member, dropped'
  it.each([
    { field: 'extra', message: member, body: { ...minimal, extra: 1 } },
    { field: 'toString', message: member, body: { ...minimal, toString: 'x' } },
    { field: 'constructor', message: member, body: { ...minimal, constructor: {} } },
    { field: '__proto__', message: member, body: { ...minimal, ['__proto__']: { state: 1 } } },
    { field: '["a b"]', message: member, body: { ...minimal, 'a b': 1 } },
    { field: '["x\\ny"]', message: member, body: { ...minimal, 'x\ny': 1 } },
    {
      field: 'messages[0].toolCalls[0].function.extra',
      message: member,
      body: inMessages(assistant({ toolCalls: [{ ...call, function: { ...call.function, extra: 1 } }] })),
      kept: inMessages(assistant({ toolCalls: [call] })),
    },
    {
      field: 'messages[1]',
      message: 'unknown role "wizard", dropped',
      body: inMessages(user('x'), { id: 'w', role: 'wizard', spell: {} }),
      kept: inMessages(user('x')),
    },
    {
      field: 'messages[0]',
      message: 'unknown role "toString", dropped',
      body: inMessages({ role: 'toString' }),
    },
    {
      field: 'messages[0].content[0]',
      message: 'unknown type "hologram", dropped',
      body: inMessages(user([{ type: 'hologram' }, image])),
      kept: inMessages(user([image])),
    },
    {
      field: 'messages[0].content[1]',
      message: 'source has unknown type "s3", dropped',
      body: inMessages(user([image, { ...unknownSource, id: 5, extra: 1 }])),
      kept: inMessages(user([image])),
    },
  ])('is dropped with a warning: $field', ({ field, message, body, kept = minimal }) => {
    const { input, warnings } = parseRunInput(body)
    expect(warnings).toEqual([{ field, message }])
    expect(input).toEqual({ ...defaults, ...kept })
    expect(Object.keys(input).sort()).toEqual(Object.keys({ ...defaults, ...kept }).sort())
  })

  it('is summed up when there is very much of it', () => {
    const extra = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`x${index}`, index]))
    const { warnings } = parseRunInput({ ...minimal, ...extra })
    expect(warnings).toHaveLength(100)
    expect(warnings.at(-1)).toEqual({ field: '(body)', message: '51 more warnings left out' })
  })
})
