import { describe, expect, test } from 'vitest'
import { moved, type AdkSessionState } from './session-state.js'

const states: readonly AdkSessionState[] = [
  ...(['init', 'ready', 'running', 'error', 'retrying', 'failed', 'cleaning', 'closed'] as const),
]

/** The design's diagram, and what it leaves open: no retry at all, and one retry after the other. */
const drawn = new Set([
  ...['init>ready', 'ready>running', 'running>ready', 'running>error', 'error>retrying', 'retrying>ready'],
  ...['retrying>failed', 'failed>ready', 'ready>cleaning', 'cleaning>closed'],
  ...['error>ready', 'error>failed', 'retrying>retrying'],
])

describe.each(states)('from %s', (from) => {
  test.each(states)('to %s', (to) => {
    if (drawn.has(`${from}>${to}`)) {
      expect(moved(from, to)).toBe(to)
      return
    }
    const code = from === 'cleaning' || from === 'closed' ? 'RUN_CLOSED' : 'THREAD_IS_LOCKED'
    expect(() => moved(from, to)).toThrow(expect.objectContaining({ code }))
  })
})
