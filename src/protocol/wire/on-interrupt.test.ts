import type { Interrupt } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { createDowngrade } from './downgrade.js'
import { legacyAnswers } from './on-interrupt.js'

const asking = (...ids: readonly string[]): Interrupt[] => ids.map((id) => ({ id, reason: 'input_required' }))
const resumed = (resume: unknown) => ({ command: { resume } })
const resolved = (interruptId: string, payload: unknown) => ({ interruptId, status: 'resolved', payload })

describe('an answer in forwardedProps.command.resume', () => {
  it.each([[false], [0], [''], ['yes'], [{ approved: true }], [['a']]])(
    'is %j to the one open interrupt',
    (payload) => {
      expect(legacyAnswers(asking('q1'), resumed(payload))).toEqual([resolved('q1', payload)])
    },
  )

  it('goes by id when there are ids', () => {
    expect(legacyAnswers(asking('q1', 'q2'), resumed({ q2: 1, q1: 2 }))).toEqual([
      resolved('q2', 1),
      resolved('q1', 2),
    ])
  })

  it('goes by order when there is a decision for each', () => {
    const decisions = [{ type: 'approve' }, { type: 'reject' }]
    expect(legacyAnswers(asking('q1', 'q2'), resumed({ decisions }))).toEqual([
      resolved('q1', { type: 'approve' }),
      resolved('q2', { type: 'reject' }),
    ])
    expect(legacyAnswers(asking('q1', 'q2', 'q3'), resumed({ decisions }))).toEqual([])
  })

  it.each<[string, Interrupt[], unknown]>([
    ['nothing is open', asking(), resumed(true)],
    ['it is not clear whose it is', asking('q1', 'q2'), resumed(true)],
    ['an id is not open', asking('q1', 'q2'), resumed({ q1: 1, q3: 2 })],
    ['it is null', asking('q1'), resumed(null)],
    ['it is absent', asking('q1'), { command: {} }],
    ['there is no command', asking('q1'), 'resume'],
  ])('is none when %s', (_, open, forwardedProps) => {
    expect(legacyAnswers(open, forwardedProps)).toEqual([])
  })

  it('may be JSON in a text, and other text stays as it is', () => {
    expect(legacyAnswers(asking('q1'), resumed('{"approved":true}'))).toEqual([
      resolved('q1', { approved: true }),
    ])
    expect(legacyAnswers(asking('q1'), resumed('{ or not'))).toEqual([resolved('q1', '{ or not')])
    expect(legacyAnswers(asking('q1'), resumed('42'))).toEqual([resolved('q1', '42')])
  })

  it('goes to the one whose value it repeats', () => {
    const open = [graphInterrupt('q1', { question: 'Sea?' }), graphInterrupt('q2', { question: 'Air?' })]
    const command = { resume: 'yes', interruptEvent: { question: 'Air?' } }
    expect(legacyAnswers(open, { command })).toEqual([resolved('q2', 'yes')])
    const text = { resume: 'yes', interruptEvent: '{"question":"Air?"}' }
    expect(legacyAnswers(open, { command: text })).toEqual([resolved('q2', 'yes')])
  })

  it('decides on the actions of one review beside other interrupts', () => {
    const open = [graphInterrupt('q0', 'Sea?'), ...reviewed]
    const command = { resume: { decisions: [1, 2] }, interruptEvent: review }
    expect(legacyAnswers(open, { command })).toEqual([resolved('q1', 1), resolved('q2', 2)])
  })
})

const graphInterrupt = (id: string, value: unknown): Interrupt => ({
  ...{ id, reason: 'input_required' },
  metadata: { langgraph: { value, ns: [] } },
})

const review = { actionRequests: [{ name: 'pay' }, { name: 'send' }], reviewConfigs: [] }
const reviewed: Interrupt[] = [
  {
    id: 'q1',
    reason: 'confirmation',
    metadata: { langgraph: { value: { name: 'pay' }, action: 0, review } },
  },
  { id: 'q2', reason: 'confirmation', metadata: { langgraph: { value: { name: 'send' }, action: 1 } } },
]

const downgraded = (interrupts: Interrupt[]) =>
  createDowngrade()({
    ...{ type: 'RUN_FINISHED', threadId: 't', runId: 'r' },
    outcome: { type: 'interrupt', interrupts },
  })

describe('the end of an interrupted run, for a client before 1.0', () => {
  function onInterrupt(...interrupts: Interrupt[]) {
    const outcome = { type: 'interrupt' as const, interrupts }
    const events = downgraded(interrupts)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome })
    return events.slice(0, -1).map((event) => (event.type === 'CUSTOM' ? [event.name, event.value] : event))
  }

  it('has the values of a graph before it', () => {
    const values = ['Sea?', null, { question: 'Air?' }]
    const interrupts = values.map((value, index) => graphInterrupt(`q${index}`, value))
    expect(onInterrupt(...interrupts)).toEqual(values.map((value) => ['on_interrupt', value]))
  })

  it('has a review once, as the graph raised it', () => {
    expect(onInterrupt(...reviewed, graphInterrupt('q3', 'Sea?'))).toEqual([
      ['on_interrupt', review],
      ['on_interrupt', 'Sea?'],
    ])
  })

  it('has the interrupt itself when no graph raised it', () => {
    const [interrupt] = asking('q1')
    if (interrupt) expect(onInterrupt(interrupt)).toEqual([['on_interrupt', interrupt]])
  })

  it.each<[string, Interrupt[]]>([
    ['a text', [graphInterrupt('q1', 'Sea?')]],
    ['an object with members of its own', [graphInterrupt('q1', { message: 'How?', options: ['sea'] })]],
    ['a review', reviewed],
  ])('is the one value of a graph alone, when it is %s: the outcome would hide it', (_, interrupts) => {
    const [asked, end, ...others] = downgraded(interrupts)
    expect(others).toEqual([])
    expect(asked).toMatchObject({ type: 'CUSTOM', name: 'on_interrupt' })
    expect(end).toEqual({ type: 'RUN_FINISHED', threadId: 't', runId: 'r' })
  })

  it('keeps the outcome when it says all that the value of a graph says', () => {
    const spoken = { reason: 'confirmation', message: 'Pay?', expiresAt: '2027-01-01T00:00:00Z' }
    const { expiresAt: _, ...kept } = spoken
    for (const value of [spoken, { message: 'Pay?' }, {}, null])
      expect(downgraded([{ ...graphInterrupt('q1', value), ...spoken }]).at(-1)).toMatchObject({
        outcome: { type: 'interrupt', interrupts: [kept] },
      })
  })
})
