import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { keyOf, runOf } from '../../../test/support/store-contract/rig.js'
import { talk } from '../../../test/support/talk.js'
import type { Outcome } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { Thread } from '../../threads/contract.js'
import { createStateRules } from '../state/state-rules.js'
import {
  messageChange,
  pendingClientCalls,
  runError,
  threadChange,
  titleFor,
  type ThreadChangeOptions,
} from './thread-change.js'

const stored = talk('u1 a1(c1)')
const endedAt = 9_000
const interrupt = { id: 'i1', reason: 'tool_call' }
const thread: Thread = {
  ...{ key: keyOf('t'), version: 4, createdAt: 0, updatedAt: 0, title: 'Hello', messages: stored, state: {} },
  ...{ interrupts: [], pendingToolCalls: [{ id: 'c1', name: 'tool_c1' }] },
}
const completed: Outcome = {
  ...{ type: 'completed', text: '', pendingToolCalls: [], usage: [], state: { a: 1, 'temp:b': 2 } },
  messages: [...stored, ...talk('u2 a2')],
}

function change(ended: Partial<ThreadChangeOptions>) {
  return threadChange({
    ...{ thread, outcome: completed, started: stored, clientTools: new Set(), saved: undefined },
    kept: ended.thread === undefined && 'thread' in ended ? 0 : stored.length,
    pending: thread.pendingToolCalls,
    ...{ run: runOf('r1', { status: 'completed', endedAt }), stateRules: createStateRules(), ...ended },
  })
}

function ended(type: 'cancelled' | 'failed', messages = completed.messages): Outcome {
  const all = { usage: [], state: {}, messages }
  return type === 'failed' ? { type, error: new Error('secret'), ...all } : { type, ...all }
}

describe('the change that a run makes', () => {
  test('is made from the version it started with, and adds what is new', () => {
    expect(change({})).toMatchObject({ version: 4, keep: 2, append: talk('u2 a2'), run: { runId: 'r1' } })
  })

  test('makes a new thread where there is none, and gives it a title', () => {
    const made = change({ thread: undefined })
    expect(made).toMatchObject({ version: 0, keep: 0, append: completed.messages, title: 'text of u1' })
    expect(made).not.toHaveProperty('checkpoint')
  })

  test('gives a title only where there is none', () => {
    expect(change({})).not.toHaveProperty('title')
    expect(change({ thread: { ...thread, title: '' } }).title).toBe('text of u1')
  })

  test('leaves out of the state what is for the run alone', () => {
    expect(change({}).state).toEqual({ a: 1 })
  })
})

describe('interrupts after a run', () => {
  const interrupted: Thread = { ...thread, interrupts: [interrupt], checkpoint: { old: true } }
  const saved = { openInterrupts: [{ interrupt }], answered: ['i0'], frames: { x: 1 } }

  test('are those it has raised, with the checkpoint to resume from', () => {
    const outcome: Outcome = {
      ...{ type: 'interrupted', interrupts: [interrupt], usage: [], state: {}, messages: stored },
      checkpoint: saved as never,
    }
    expect(change({ outcome, saved })).toMatchObject({ interrupts: [interrupt], checkpoint: saved })
  })

  test('are none when it has completed; what was answered is kept, without the rest', () => {
    const answered = Array.from({ length: 300 }, (_, n) => `i${n}`)
    const over = { ...saved, openInterrupts: [], answered, messages: stored, state: { large: 1 } }
    const made = change({ thread: interrupted, saved: over })
    expect(made.interrupts).toEqual([])
    expect(made.checkpoint).toEqual({
      ...{ openInterrupts: [], frames: { x: 1 }, messages: [], state: {} },
      answered: answered.slice(100),
    })
  })

  test.each(['cancelled', 'failed'] as const)('are still those of before when it was %s', (type) => {
    const outcome = ended(type)
    expect(change({ thread: interrupted, outcome })).toMatchObject({
      ...{ interrupts: [interrupt], checkpoint: { old: true } },
    })
    const other = { id: 'i2', reason: 'tool_call' }
    const progress = { openInterrupts: [{ interrupt: other }], answered: [] }
    expect(change({ thread: interrupted, outcome, saved: progress })).toMatchObject({
      ...{ interrupts: [other], checkpoint: progress },
    })
  })

  test.each(['cancelled', 'failed'] as const)('are none when it was %s and has done with them', (type) => {
    const progress = { openInterrupts: [], answered: ['i1'] }
    const made = change({ thread: interrupted, outcome: ended(type), saved: progress })
    expect(made.interrupts).toEqual([])
    expect(made.checkpoint).toMatchObject({ openInterrupts: [], answered: ['i1'] })
  })
})

describe('calls that wait for the client after a run', () => {
  const call = (id: string) => ({
    id,
    type: 'function' as const,
    function: { name: `tool_${id}`, arguments: '{}' },
  })

  test('are those of before and those it has left open, each once', () => {
    const messages = [...stored, ...talk('u2 a2(c2)')]
    const outcome: Outcome = { ...completed, messages, pendingToolCalls: [call('c1'), call('c2')] }
    expect(change({ outcome }).pendingToolCalls).toEqual([
      { id: 'c1', name: 'tool_c1' },
      { id: 'c2', name: 'tool_c2', timestamp: endedAt },
    ])
  })

  test('are not those that were answered or cut off', () => {
    const answered = { ...completed, messages: [...stored, ...talk('t-c1 a2')] }
    expect(change({ outcome: answered }).pendingToolCalls).toEqual([])
    const cut = { ...completed, messages: [...stored.slice(0, 1), ...talk('a3')] }
    expect(change({ outcome: cut }).pendingToolCalls).toEqual([])
  })

  test('are the calls to its tools when it did not come to its end', () => {
    const messages = [...stored, ...talk('a2(c2,c3)')]
    const clientTools = new Set(['tool_c2'])
    expect(change({ outcome: ended('cancelled', messages), clientTools }).pendingToolCalls).toEqual([
      { id: 'c1', name: 'tool_c1' },
      { id: 'c2', name: 'tool_c2', timestamp: endedAt },
    ])
  })
})

test('the record of a run says why it failed, in words for clients', () => {
  expect(runError(ended('failed'))).toMatchObject({ error: { code: 'AGENT_ERROR' } })
  expect(JSON.stringify(runError(ended('failed')))).not.toContain('secret')
  const limit = { ...ended('failed'), error: new MillraceError('EXECUTION_TIMEOUT', 'Too long.') } as Outcome
  expect(runError(limit)).toEqual({ error: { code: 'EXECUTION_TIMEOUT', message: 'Too long.' } })
  expect(runError(ended('cancelled'))).toEqual({})
})

describe('what has changed at the end of the messages', () => {
  test('is nothing when nothing has', () => {
    const messages = talk('u1 a1')
    expect(messageChange({ started: messages, kept: 2 }, [...messages])).toEqual({ keep: 2, append: [] })
  })

  test('begins where a message is another object, even when it reads the same', () => {
    const before = talk('u1 a1 u2')
    const [first, , last] = before
    const after = [first, ...talk('a1'), last].filter((message) => message !== undefined)
    const run = { started: before, kept: 3 }
    expect(messageChange(run, after)).toEqual({ keep: 1, append: after.slice(1) })
  })

  test('begins at the latest with what the request has added', () => {
    const started = talk('u1 a1 u2')
    const after = [...started, ...talk('a2')]
    expect(messageChange({ started, kept: 2 }, after)).toEqual({ keep: 2, append: after.slice(2) })
  })

  test('makes of what was before what is after', () => {
    const pool = talk('u1 a1 u2 a2 u3')
    const list = fc.array(fc.constantFrom(...pool), { maxLength: 6 })
    fc.assert(
      fc.property(list, fc.nat(6), list, (started, most, after) => {
        const kept = Math.min(most, started.length)
        const { keep, append } = messageChange({ started, kept }, after)
        expect([...started.slice(0, keep), ...append]).toEqual(after)
        expect(keep === kept || keep === after.length || started[keep] !== after[keep]).toBe(true)
      }),
    )
  })
})

describe('calls that wait for the client', () => {
  const before = [{ id: 'c0', name: 'tool_c0' }]

  test('are those of its own tools that have no result, behind those that were open', () => {
    const added = talk('a1(c1,c2,c3) t-c2')
    const clientTools = new Set(['tool_c1', 'tool_c2'])
    expect(pendingClientCalls(added, { clientTools, before, timestamp: 7 })).toEqual([
      ...before,
      { id: 'c1', name: 'tool_c1', timestamp: 7 },
    ])
  })

  test('are not open any more when their result was added', () => {
    expect(pendingClientCalls(talk('t-c0 a1'), { clientTools: new Set(), before, timestamp: 7 })).toEqual([])
  })
})

describe('a title', () => {
  const said = (content: Extract<Message, { role: 'user' }>['content']): Message[] => [
    { id: 's', role: 'system', content: 'Be kind.' },
    { id: 'u', role: 'user', content },
    { id: 'u2', role: 'user', content: 'Later.' },
  ]

  test('is what the user has said first, on one line', () => {
    expect(titleFor(said('  Is it\n\n raining? '))).toBe('Is it raining?')
    const parts = [
      { type: 'text' as const, text: 'Look' },
      { type: 'image' as const, source: { type: 'url' as const, value: 'https://a.example/b.png' } },
      { type: 'text' as const, text: 'here' },
    ]
    expect(titleFor(said(parts))).toBe('Look here')
  })

  test('is empty where nobody has said anything', () => {
    expect([titleFor([]), titleFor(talk('s1 a1')), titleFor(said('  '))]).toEqual(['', '', ''])
  })

  test('is cut at eighty characters, never within one', () => {
    expect(titleFor(said('x'.repeat(80)))).toBe('x'.repeat(80))
    expect(titleFor(said('x'.repeat(81)))).toBe(`${'x'.repeat(79)}…`)
    expect(titleFor(said(`${'x'.repeat(78)}😀😀`))).toBe(`${'x'.repeat(78)}…`)
  })
})
