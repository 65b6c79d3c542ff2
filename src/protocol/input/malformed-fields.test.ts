import { describe, expect, it } from 'vitest'

import { MillraceError } from '../../core/errors.js'
import { parseRunInput } from './parse-run-input.js'

const minimal = { threadId: 't', runId: 'r', messages: [] }
const user = (content: unknown) => ({ id: 'u', role: 'user', content })
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const assistant = (members: object) => ({ id: 'a', role: 'assistant', ...members })
const inMessages = (...messages: unknown[]) => ({ ...minimal, messages })

describe('a malformed field', () => {
  const text = (value: unknown) => ({ type: 'text', text: value })
  it.each([
    ['(body)', 'expected object, got null', null],
    ['(body)', 'expected object, got array', []],
    ['(body)', 'expected object, got string', '{}'],
    ['(body)', 'expected object, got nothing', undefined],
    ['threadId', 'expected string, got nothing', { runId: 'r', messages: [] }],
    ['threadId', 'expected string, got null', { ...minimal, threadId: null }],
    ['runId', 'expected string, got number', { ...minimal, runId: 7 }],
    ['messages', 'expected array, got nothing', { threadId: 't', runId: 'r' }],
    ['messages', 'expected array, got null', { ...minimal, messages: null }],
    ['messages', 'expected array, got string', { ...minimal, messages: 'hello' }],
    ['messages[1]', 'expected object, got null', inMessages(user('x'), null)],
    ['messages[0].role', 'expected string, got nothing', inMessages({ id: 'x', content: 'x' })],
    ['messages[0].role', 'expected string, got number', inMessages({ id: 'x', role: 1 })],
    ['messages[0].id', 'expected string, got nothing', inMessages({ role: 'user', content: 'x' })],
    ['messages[0].content', 'expected string or array, got number', inMessages(user(5))],
    ['messages[0].content', 'expected string or array, got null', inMessages(user(null))],
    ['messages[0].content', 'expected string, got array', inMessages(assistant({ content: [] }))],
    [
      'messages[0].content[1].text',
      'expected string, got boolean',
      inMessages(user([text('x'), text(true)])),
    ],
    ['messages[0].content[0].type', 'expected string, got nothing', inMessages(user([{ text: 'x' }]))],
    ['messages[0].content[0].source', 'expected object, got nothing', inMessages(user([{ type: 'image' }]))],
    [
      'messages[0].content[0].source.mimeType',
      'expected string, got nothing',
      inMessages(user([{ type: 'image', source: { type: 'data', value: 'x' } }])),
    ],
    [
      'messages[2].toolCalls[0].function.arguments',
      'expected string, got number',
      inMessages(
        { id: 'x', role: 'activity' },
        { id: 'x', role: 'wizard' },
        assistant({ toolCalls: [{ ...call, function: { name: 'f', arguments: 5 } }] }),
      ),
    ],
    [
      'messages[0].toolCalls[0].type',
      'expected "function", got "tool"',
      inMessages(assistant({ toolCalls: [{ ...call, type: 'tool' }] })),
    ],
    ['messages[0].metadata', 'expected object, got array', inMessages({ ...user('x'), metadata: [] })],
    ['tools', 'expected array, got object', { ...minimal, tools: {} }],
    ['tools[0]', 'expected object, got string', { ...minimal, tools: ['f'] }],
    ['tools[0].description', 'expected string, got nothing', { ...minimal, tools: [{ name: 'f' }] }],
    [
      'context[0].value',
      'expected string, got object',
      { ...minimal, context: [{ description: 'd', value: {} }] },
    ],
    [
      'resume[0].status',
      'expected "resolved" or "cancelled", got "done"',
      { ...minimal, resume: [{ interruptId: 'i', status: 'done' }] },
    ],
    ['protocolVersion', 'expected string, got number', { ...minimal, protocolVersion: 1 }],
    [
      'protocolVersion',
      'expected a version such as "1.0", got "one"',
      { ...minimal, protocolVersion: 'one' },
    ],
    [
      'protocolVersion',
      'expected a version such as "1.0", got "1.0.0"',
      { ...minimal, protocolVersion: '1.0.0' },
    ],
    ['protocolVersion', 'expected a version such as "1.0", got ""', { ...minimal, protocolVersion: '' }],
  ])('is refused by name: %s %s', (field, message, body) => {
    const error = refusal(body)
    expect(error).toMatchObject({ code: 'INVALID_INPUT', status: 400, message: `${field}: ${message}` })
    expect(error.details).toEqual({ field, issues: [{ field, message }] })
  })

  it('is listed with the others', () => {
    const { message, details } = refusal({ threadId: 1, runId: 2, messages: [user(3)] })
    expect(message).toBe('threadId: expected string, got number')
    expect(details.issues).toEqual([
      { field: 'threadId', message: 'expected string, got number' },
      { field: 'runId', message: 'expected string, got number' },
      { field: 'messages[0].content', message: 'expected string or array, got number' },
    ])
  })

  it('is listed up to the twentieth, however many there are', () => {
    const { details } = refusal({ ...minimal, messages: new Array(300_000).fill(1) })
    expect(details.issues).toHaveLength(20)
  })

  it('is cut when it is long, so that an error stays readable', () => {
    expect(refusal({ ...minimal, protocolVersion: 'x'.repeat(1e6) }).message.length).toBeLessThan(150)
  })
})

function refusal(body: unknown): MillraceError {
  try {
    parseRunInput(body)
  } catch (error) {
    if (MillraceError.isInstance(error)) return error
    throw error
  }
  throw new Error('the input was accepted')
}
