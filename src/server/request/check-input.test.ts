import { describe, expect, test } from 'vitest'
import { parseRunInput, type RunInput } from '../../protocol/index.js'
import { defaultLimits } from '../contract.js'
import { checkId, checkRunInput } from './check-input.js'

const limits = { ...defaultLimits, messages: 3, tools: 2, idLength: 10 }

function inputOf(fields: Record<string, unknown> = {}): RunInput {
  return parseRunInput({ threadId: 't', runId: 'r', messages: [], tools: [], context: [], ...fields }).input
}

function refusal(fields: Record<string, unknown>): unknown {
  try {
    checkRunInput(inputOf(fields), limits)
    return undefined
  } catch (error) {
    return error
  }
}

const user = { id: 'm', role: 'user', content: 'hi' }
const call = (id: string) => ({ id, type: 'function', function: { name: '', arguments: '{}' } })
const assistant = (...ids: string[]) => ({ id: 'a', role: 'assistant', toolCalls: ids.map(call) })
const tool = (name: string) => ({ name, description: '', parameters: {} })
const many = (count: number, entry: unknown) => Array.from({ length: count }, () => entry)

describe('checkRunInput', () => {
  test.each([
    {},
    { threadId: 'x'.repeat(10), parentRunId: 'p' },
    { threadId: '会話 #1/ü?😀' },
    { threadId: '...', runId: '.' },
    { messages: [1, 2, 3].map((n) => ({ ...user, id: `m${n}` })) },
    { messages: [assistant('c1', 'c2'), { id: 't', role: 'tool', toolCallId: 'c1', content: '' }] },
    { messages: [{ id: 'a', role: 'assistant', content: 'hi' }] },
    { tools: [tool('a'), tool('b')] },
    { context: many(1000, { description: '', value: '' }) },
    { resume: many(1000, { interruptId: 'i', status: 'resolved' }) },
  ])('takes %j', (fields) => {
    expect(refusal(fields)).toBeUndefined()
  })

  const long = 'x'.repeat(11)
  test.each([
    ['threadId', { threadId: '' }],
    ['threadId', { threadId: long }],
    ['threadId', { threadId: 'a\nb' }],
    ['threadId', { threadId: 'a\u0000' }],
    ['threadId', { threadId: 'a\u007f' }],
    ['threadId', { threadId: 'a\u0085' }],
    ['threadId', { threadId: 'a\ud800' }],
    ['threadId', { threadId: '\udc00a' }],
    ['threadId', { threadId: '.' }],
    ['threadId', { threadId: '..' }],
    ['runId', { runId: '' }],
    ['runId', { runId: 'r\r' }],
    ['parentRunId', { parentRunId: long }],
    ['parentRunId', { parentRunId: '' }],
    ['messages', { messages: [1, 2, 3, 4].map((n) => ({ ...user, id: `m${n}` })) }],
    ['messages[1].id', { messages: [user, { ...user, id: '' }] }],
    ['messages[0].id', { messages: [{ ...user, id: long }] }],
    ['messages[1].toolCalls[1].id', { messages: [user, assistant('c', '')] }],
    ['messages[0].toolCallId', { messages: [{ id: 't', role: 'tool', toolCallId: long, content: '' }] }],
    ['tools', { tools: many(3, tool('a')) }],
    ['tools[1].name', { tools: [tool('a'), tool('')] }],
    ['tools[0].name', { tools: [tool('a\tb')] }],
    ['context', { context: many(1001, { description: '', value: '' }) }],
    ['resume', { resume: many(1001, { interruptId: 'i', status: 'resolved' }) }],
    ['resume[0].interruptId', { resume: [{ interruptId: '', status: 'resolved' }] }],
  ])('names %s in %j', (field, fields) => {
    const error = refusal(fields) as Error
    expect(error).toMatchObject({ code: 'INVALID_INPUT', details: { field } })
    expect(error.message.startsWith(`${field}: `)).toBe(true)
  })
})

describe('checkId', () => {
  test('gives an id back', () => {
    expect(checkId('thread-1', 'threadId', limits)).toBe('thread-1')
  })

  test('says what is wrong, without showing what was sent', () => {
    const problem = (value: unknown) => () => checkId(value, 'runId', limits)
    expect(problem(undefined)).toThrow('runId: expected a string')
    expect(problem(7)).toThrow('runId: expected a string')
    expect(problem('')).toThrow('runId: must not be empty')
    expect(problem('x'.repeat(11))).toThrow('runId: longer than 10 characters')
    expect(problem('a\u001b[31m')).toThrow('runId: must not hold control characters or lone surrogates')
  })
})
