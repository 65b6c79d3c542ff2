import type { Interrupt } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { talk } from '../../../test/support/talk.js'
import { recoverInterrupts } from './recover-interrupts.js'

const about = (id: string, toolCallId?: string): Interrupt => ({
  ...{ id, reason: 'tool_call', ...(toolCallId === undefined ? {} : { toolCallId }) },
})
const [pay, sign, name] = [about('i1', 'c1'), about('i2', 'c2'), about('i3')]

/** All raised by one agent of the kit, or by one of a foreign runtime. */
function saved(interrupts: readonly Interrupt[], kind: 'kit' | 'foreign' = 'kit', answers: object = {}) {
  const frame = { interrupts: interrupts.map((interrupt) => ({ interrupt })), answers }
  return {
    ...{ version: 1, messages: talk('u1 a1(c1,c2)'), state: { large: 1 }, values: { x: 1 } },
    ...{ openInterrupts: interrupts.map((interrupt) => ({ interrupt, address: 'agent' })), answered: ['i0'] },
    frames: { agent: kind === 'kit' ? { batch: 1 } : frame, other: { kept: true } },
  }
}

describe('an answer about a tool call', () => {
  test('counts once: the tool may have begun', () => {
    const checkpoint = saved([pay])
    const left = recoverInterrupts({ interrupts: [pay], checkpoint, answered: ['i1'] })
    expect(left).toEqual({
      interrupts: [],
      checkpoint: {
        ...{ version: 1, messages: [], state: {}, values: {}, openInterrupts: [], frames: {} },
        answered: ['i0', 'i1'],
      },
    })
  })

  test('leaves those open that were not answered', () => {
    const checkpoint = saved([pay, sign])
    const left = recoverInterrupts({ interrupts: [pay, sign], checkpoint, answered: ['i1'] })
    expect(left).toEqual({
      interrupts: [sign],
      checkpoint: {
        ...checkpoint,
        openInterrupts: [{ interrupt: sign, address: 'agent' }],
        answered: ['i0', 'i1'],
      },
    })
  })

  test('counts for nothing while its agent waits for the others', () => {
    const checkpoint = saved([pay, sign], 'foreign')
    const left = recoverInterrupts({ interrupts: [pay, sign], checkpoint, answered: ['i1'] })
    expect(left).toEqual({ interrupts: [pay, sign], checkpoint })
  })

  test('counts when the others of its agent were answered before', () => {
    const checkpoint = saved([pay, sign], 'foreign', { i1: { status: 'resolved' } })
    const open = { ...checkpoint, openInterrupts: [{ interrupt: sign, address: 'agent' }] }
    const left = recoverInterrupts({ interrupts: [sign], checkpoint: open, answered: ['i2'] })
    expect(left).toMatchObject({ interrupts: [], checkpoint: { openInterrupts: [], frames: {} } })
  })

  test('takes the frame of a foreign agent along, and no other', () => {
    const checkpoint = saved([pay], 'foreign')
    const both = {
      ...checkpoint,
      openInterrupts: [...checkpoint.openInterrupts, { interrupt: sign, address: 'other' }],
    }
    const left = recoverInterrupts({ interrupts: [pay, sign], checkpoint: both, answered: ['i1'] })
    expect(left).toMatchObject({ interrupts: [sign] })
    expect((left.checkpoint as typeof checkpoint).frames).toEqual({ other: { kept: true } })
  })

  test('counts when only interrupts of other groups wait, which stay open with their frame', () => {
    const checkpoint = saved([pay, sign], 'foreign')
    const [first, second] = [pay, sign].map((interrupt) => ({ interrupt, group: interrupt.id }))
    const frames = { agent: { interrupts: [first, second], answers: {} }, other: { kept: true } }
    const left = recoverInterrupts({
      interrupts: [pay, sign],
      checkpoint: { ...checkpoint, frames },
      answered: ['i1'],
    })
    expect(left).toMatchObject({ interrupts: [sign], checkpoint: { answered: ['i0', 'i1'] } })
    expect((left.checkpoint as typeof checkpoint).frames).toEqual({
      agent: { interrupts: [second], answers: {} },
      other: { kept: true },
    })
  })

  test('needs no checkpoint that can be read', () => {
    const left = recoverInterrupts({ interrupts: [pay], checkpoint: { step: 3 }, answered: ['i1'] })
    expect(left).toEqual({ interrupts: [] })
  })
})

test('an answer about something else can be given again', () => {
  const checkpoint = saved([name])
  expect(recoverInterrupts({ interrupts: [name], checkpoint, answered: ['i3'] })).toEqual({
    ...{ interrupts: [name], checkpoint },
  })
})

test('without an answer all is as before', () => {
  const checkpoint = saved([pay])
  expect(recoverInterrupts({ interrupts: [pay], checkpoint, answered: [] })).toEqual({
    ...{ interrupts: [pay], checkpoint },
  })
})
