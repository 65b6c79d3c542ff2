import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { talk } from '../../../test/support/talk.js'
import { messageTail, openClientCalls, titleOf } from './message-tail.js'

describe('what has changed at the end of the messages', () => {
  test('is nothing when nothing has', () => {
    const messages = talk('u1 a1')
    expect(messageTail(messages, [...messages])).toEqual({ keep: 2, append: [] })
  })

  test('begins where a message is another object, even when it reads the same', () => {
    const before = talk('u1 a1 u2')
    const [first, , last] = before
    const after = [first, ...talk('a1'), last].filter((message) => message !== undefined)
    expect(messageTail(before, after)).toEqual({ keep: 1, append: after.slice(1) })
  })

  test('makes of what was before what is after', () => {
    const pool = talk('u1 a1 u2 a2 u3')
    const list = fc.array(fc.constantFrom(...pool), { maxLength: 6 })
    fc.assert(
      fc.property(list, list, (before, after) => {
        const { keep, append } = messageTail(before, after)
        expect([...before.slice(0, keep), ...append]).toEqual(after)
        expect(keep === before.length || keep === after.length || before[keep] !== after[keep]).toBe(true)
      }),
    )
  })
})

describe('calls that wait for the client', () => {
  const before = [{ id: 'c0', name: 'tool_c0' }]

  test('are those of its own tools that have no result, behind those that were open', () => {
    const added = talk('a1(c1,c2,c3) t-c2')
    const clientTools = new Set(['tool_c1', 'tool_c2'])
    expect(openClientCalls(added, { clientTools, before })).toEqual([
      ...before,
      { id: 'c1', name: 'tool_c1' },
    ])
  })

  test('are not open any more when their result was added', () => {
    expect(openClientCalls(talk('t-c0 a1'), { clientTools: new Set(), before })).toEqual([])
  })
})

describe('a title', () => {
  const said = (content: Extract<Message, { role: 'user' }>['content']): Message[] => [
    { id: 's', role: 'system', content: 'Be kind.' },
    { id: 'u', role: 'user', content },
    { id: 'u2', role: 'user', content: 'Later.' },
  ]

  test('is what the user has said first, on one line', () => {
    expect(titleOf(said('  Is it\n\n raining? '))).toBe('Is it raining?')
    const parts = [
      { type: 'text' as const, text: 'Look' },
      { type: 'image' as const, source: { type: 'url' as const, value: 'https://a.example/b.png' } },
      { type: 'text' as const, text: 'here' },
    ]
    expect(titleOf(said(parts))).toBe('Look here')
  })

  test('is empty where nobody has said anything', () => {
    expect([titleOf([]), titleOf(talk('s1 a1')), titleOf(said('  '))]).toEqual(['', '', ''])
  })

  test('is cut at eighty characters, never within one', () => {
    expect(titleOf(said('x'.repeat(80)))).toBe('x'.repeat(80))
    expect(titleOf(said('x'.repeat(81)))).toBe(`${'x'.repeat(79)}…`)
    expect(titleOf(said(`${'x'.repeat(78)}😀😀`))).toBe(`${'x'.repeat(78)}…`)
  })
})
