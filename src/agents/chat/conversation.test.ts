import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { createConversation } from './loop-state.js'

const user = (id: string): Message => ({ id, role: 'user', content: id })
const result = (id: string, toolCallId: string): Message => ({ id, role: 'tool', toolCallId, content: id })
const calls = (id: string, ...ids: string[]): Message => ({
  id,
  role: 'assistant',
  toolCalls: ids.map((call) => ({ id: call, type: 'function', function: { name: 'x', arguments: '{}' } })),
})
const idsOf = (messages: readonly Message[]): string[] => messages.map(({ id }) => id)

test('shows itself as it was when it was asked, however late it is read', () => {
  const conversation = createConversation([user('u1')])
  const before = conversation.view()
  conversation.add([calls('a1', 'c1')])
  const between = conversation.view()
  conversation.add([result('t1', 'c1')])
  expect([before, between, conversation.view()].map((view) => idsOf(view()))).toEqual([
    ['u1'],
    ['u1', 'a1'],
    ['u1', 'a1', 't1'],
  ])
  expect(before()).toBe(before())
})

describe('one that was left while tools were at work', () => {
  const left = { added: [calls('a1', 'c1', 'c2')], openCalls: new Set(['c1', 'c2']) }

  test('takes the results of open calls where they belong, in the order of the calls', () => {
    const conversation = createConversation([user('u1'), calls('a1', 'c1', 'c2'), user('u2')], left)
    const before = conversation.view()
    conversation.add([result('t2', 'c2')])
    const between = conversation.view()
    conversation.add([result('t1', 'c1'), calls('a2', 'c3')])
    expect([before, between, conversation.view()].map((view) => idsOf(view()))).toEqual([
      ['u1', 'a1', 'u2'],
      ['u1', 'a1', 't2', 'u2'],
      ['u1', 'a1', 't1', 't2', 'u2', 'a2'],
    ])
  })

  test('knows the results that are there', () => {
    const given = [user('u1'), calls('a1', 'c1', 'c2'), user('u2'), result('t1', 'c1')]
    const conversation = createConversation(given, left)
    expect([conversation.resultOf('c1')?.id, conversation.resultOf('c2')]).toEqual(['t1', undefined])
    expect(idsOf(conversation.view()())).toEqual(['u1', 'a1', 't1', 'u2'])
  })

  test('has what the agent added also when the history lacks it', () => {
    expect(idsOf(createConversation([user('u1')], left).view()())).toEqual(['u1', 'a1'])
  })
})
