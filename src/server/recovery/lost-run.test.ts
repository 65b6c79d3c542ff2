import type { Message } from '@ag-ui/core'
import { expect, test } from 'vitest'
import { keyOf } from '../../../test/support/store-contract/rig.js'
import { talk } from '../../../test/support/talk.js'
import type { RunStart, Thread } from '../../threads/contract.js'
import { createStateRules } from '../state/state-rules.js'
import { recoveredContent } from './lost-run.js'

const startMessages = talk('u1 a1(c1,c2)')
const interruptOn = (id: string, toolCallId?: string) => ({
  ...{ id, reason: 'tool_call', ...(toolCallId === undefined ? {} : { toolCallId }) },
})
const both = [interruptOn('i1', 'c1'), interruptOn('i2', 'c2')]
const checkpoint = {
  ...{ version: 1, frames: { agent: 1 }, values: { x: 1 }, messages: startMessages, state: { large: 1 } },
  ...{ openInterrupts: both.map((interrupt) => ({ interrupt, address: 'agent' })), answered: ['i0'] },
}

interface Case {
  readonly interrupts?: Thread['interrupts']
  readonly start?: Partial<RunStart>
  /** What the run has added. */
  readonly added: readonly Message[]
  readonly checkpoint?: unknown
}

function left({ interrupts = both, start, added, ...given }: Case) {
  const saved = 'checkpoint' in given ? given.checkpoint : checkpoint
  const thread: Thread = {
    ...{
      key: keyOf('t'),
      version: 4,
      createdAt: 0,
      updatedAt: 0,
      title: '',
      messages: startMessages,
      interrupts,
    },
    ...{ state: { count: 1, ledger: [1] }, pendingToolCalls: [], checkpoint: saved },
  }
  const atStart = { keep: 2, append: [], state: { count: 2, ledger: [1, 2] }, clientTools: [] }
  return recoveredContent({
    ...{ thread, startMessages, start: { ...atStart, isAnswering: true, ...start } },
    ended: { messages: [...startMessages, ...added], state: { count: 3 } },
    stateRules: createStateRules({ private: ['ledger'] }),
  })
}

test('answers that were all carried out are done with, and are not taken again', () => {
  const added = talk('t-c1 t-c2 a2')
  expect(left({ added })).toEqual({
    ...{ messages: [...startMessages, ...added], state: { count: 3, ledger: [1, 2] }, interrupts: [] },
    checkpoint: {
      ...{ version: 1, openInterrupts: [], frames: {}, values: {}, messages: [], state: {} },
      answered: ['i0', 'i1', 'i2'],
    },
  })
})

test('without a checkpoint that can be read there is none afterwards', () => {
  expect(left({ added: talk('t-c1 t-c2'), checkpoint: { step: 3 } })).not.toHaveProperty('checkpoint')
})

test.each([
  ['one has no result', both, talk('t-c1 a2')],
  ['none has a result', both, talk('a2')],
  [
    'one was raised by an agent, not by a call',
    [interruptOn('i1', 'c1'), interruptOn('i2')],
    talk('t-c1 t-c2'),
  ],
])('all is as before the answers when %s', (_, interrupts, added) => {
  const before = { messages: startMessages, state: { count: 2, ledger: [1] }, interrupts, checkpoint }
  expect(left({ interrupts, added })).toEqual(before)
})

test('a run that answered nothing leaves its messages, and the interrupts as they were', () => {
  const added = talk('a2')
  expect(left({ added, start: { isAnswering: false } })).toMatchObject({
    ...{ messages: [...startMessages, ...added], interrupts: both, checkpoint },
  })
  expect(left({ added, interrupts: [] })).toMatchObject({
    messages: [...startMessages, ...added],
    interrupts: [],
  })
})

test('a result that the client has sent itself does not count: the tool has still to run', () => {
  const [sent] = talk('t-c1')
  if (!sent) throw new Error('No result.')
  const interrupts = [interruptOn('i1', 'c1')]
  const recovered = recoveredContent({
    thread: {
      ...{
        key: keyOf('t'),
        version: 1,
        createdAt: 0,
        updatedAt: 0,
        title: '',
        messages: startMessages,
        state: {},
      },
      ...{ interrupts, pendingToolCalls: [] },
    },
    start: { keep: 2, append: [sent], state: {}, clientTools: [], isAnswering: true },
    ...{ startMessages: [...startMessages, sent], ended: { messages: [...startMessages, sent], state: {} } },
    stateRules: createStateRules(),
  })
  expect(recovered.interrupts).toEqual(interrupts)
})
