import type { Message } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { callKey, graphMessages, type MessageEntry } from './message-entries.js'

/** `u1` is of a user, `a1` of an assistant, `r1` the result of the call `c1`; `a1@ann` is of the subagent `ann`. */
function thread(words: string): Message[] {
  return words.split(' ').map((word) => {
    const [id = '', subagentRunId] = word.split('@')
    const span = subagentRunId === undefined ? {} : { subagentRunId }
    if (id.startsWith('u')) return { id, role: 'user', content: id }
    if (id.startsWith('a')) return { id, role: 'assistant', content: id, ...span }
    return { id, role: 'tool', toolCallId: `c${id.slice(1)}`, content: id, ...span }
  })
}

const idsOf = (messages: readonly Message[]): string => messages.map(({ id }) => id).join(' ')
const kept = [{ key: callKey('c1') }] as MessageEntry[]

describe('the messages of a graph', () => {
  test('of subagents are those that the checkpoint has', () => {
    expect(idsOf(graphMessages(thread('u1 a1@ann r1@ann r2@bob a2'), { kept }))).toBe('u1 r1 a2')
  })

  test('that is unfinished are also those of subagents that have new results since the user spoke', () => {
    const messages = thread('u1 a0@old r0@old u2 a1@ann r1@ann a2@bob r2@bob a3@cid')
    expect(idsOf(graphMessages(messages, { kept, isUnfinished: true }))).toBe('u1 u2 r1 a2 r2')
    expect(idsOf(graphMessages(messages, { kept, isUnfinished: false }))).toBe('u1 u2 r1')
  })

  test('that is unfinished are not those of a graph that its own tool may have called', () => {
    const messages = thread('u1 a1 a2@ann r2@ann r3')
    expect(idsOf(graphMessages(messages, { isUnfinished: true }))).toBe('u1 a1 r3')
  })
})
