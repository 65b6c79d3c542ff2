import type { AssistantMessage } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { iterationsAt, namedMessages, runOf, withPlace } from './call-place.js'

const place = { runId: 'r1', author: 'b', iterations: { rounds: 2 } }

function called(metadata: Record<string, unknown> | undefined): AssistantMessage {
  const call = { id: 'c1', type: 'function' as const, function: { name: 'pick', arguments: '{}' } }
  return { id: 'm1', role: 'assistant', toolCalls: [{ ...call, ...(metadata ? { metadata } : {}) }] }
}

describe('the place of a call', () => {
  it('is noted where the call begins, and nowhere else', () => {
    const start = { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'pick' } as const
    expect(withPlace({ ...start, metadata: { own: 1 } }, place)).toEqual({
      ...start,
      metadata: { own: 1, adk: place },
    })
    const end = { type: 'TOOL_CALL_END', toolCallId: 'c1' } as const
    expect(withPlace(end, place)).toBe(end)
  })

  it('names who made the call, and says in which round', () => {
    const messages = [called({ adk: place })]
    expect(namedMessages(messages)).toMatchObject([{ id: 'm1', name: 'b' }])
    expect(iterationsAt(messages, new Set(['c1']))).toEqual({ rounds: 2 })
    expect(iterationsAt(messages, new Set(['c2']))).toEqual({})
    expect(messages.flatMap(({ toolCalls = [] }) => toolCalls.map(runOf))).toEqual(['r1'])
  })

  it.each([undefined, {}, { adk: 'x' }, { adk: { author: 1, runId: 'r1' } }, { adk: { author: 'b' } }])(
    'is unknown where %j is noted',
    (metadata) => {
      const messages = [called(metadata)]
      expect(namedMessages(messages)).toEqual(messages)
      expect(iterationsAt(messages, new Set(['c1']))).toEqual({})
    },
  )

  it('has no rounds that are no numbers', () => {
    const messages = [called({ adk: { ...place, iterations: { a: '1', b: 1.5, c: 1 } } })]
    expect(iterationsAt(messages, new Set(['c1']))).toEqual({ c: 1 })
  })
})
