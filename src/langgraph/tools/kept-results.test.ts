import type { Message } from '@ag-ui/core'
import { AIMessage } from '@langchain/core/messages'
import { describe, expect, test } from 'vitest'
import { callerIn, keptResults } from './kept-results.js'

const call = (id: string, name: string) => ({
  id,
  type: 'function' as const,
  function: { name, arguments: '{}' },
})
const messages: Message[] = [
  { id: 'u1', role: 'user', content: 'Go' },
  { id: 'a1', role: 'assistant', toolCalls: [call('c1', 'work'), call('c2', 'work'), call('c3', 'choose')] },
  { id: 'r1', role: 'tool', toolCallId: 'c1', content: 'done' },
  { id: 'r3', role: 'tool', toolCallId: 'c3', content: 'chosen' },
]
const kept = keptResults({ messages, isClientTool: (name) => name === 'choose' })

describe('the result of a call that the thread has', () => {
  test('is taken, whether the message that made it is known or not', () => {
    const result = { id: 'r1', content: 'done', tool_call_id: 'c1', name: 'work' }
    expect(kept('c1', 'a1')).toMatchObject(result)
    expect(kept('c1', undefined)).toMatchObject(result)
  })

  test('is not that of another message with the same id', () => {
    expect(kept('c1', 'a2')).toBeUndefined()
  })

  test('is not there for a call without one, or for a call of the client', () => {
    expect(kept('c2', 'a1')).toBeUndefined()
    expect(kept('c3', 'a1')).toBeUndefined()
    expect(kept('c9', undefined)).toBeUndefined()
  })
})

test('the message that made a call is the last one with it in the input of the tool node', () => {
  const tool_calls = [{ id: 'c1', name: 'work', args: {} }]
  const made = (id: string) => new AIMessage({ id, content: '', tool_calls })
  const config = (currentTaskInput: unknown) => ({
    configurable: { __pregel_scratchpad: { currentTaskInput } },
  })
  expect(callerIn(config({ messages: [made('a1'), made('a2')] }), 'c1')).toBe('a2')
  expect(callerIn(config([made('a1')]), 'c1')).toBe('a1')
  expect(callerIn(config({ messages: [made('a1')] }), 'c2')).toBeUndefined()
  expect(callerIn({}, 'c1')).toBeUndefined()
})
