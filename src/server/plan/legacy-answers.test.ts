import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { planRequest } from '../../../test/support/plan-request.js'
import type { Thread } from '../../threads/contract.js'
import { legacyAnswers, planRun } from './plan-run.js'

const asking = (...ids: readonly string[]): Thread => {
  const interrupts: Interrupt[] = ids.map((id) => ({ id, reason: 'input_required' }))
  const key = { app: 'a', user: 'u', agent: 'g', thread: 't' }
  const rest = {
    version: 1,
    createdAt: 0,
    updatedAt: 0,
    title: '',
    messages: [],
    state: {},
    pendingToolCalls: [],
  }
  return { key, interrupts, ...rest }
}
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

  it.each<[string, Thread | undefined, unknown]>([
    ['nothing is open', asking(), resumed(true)],
    ['there is no thread', undefined, resumed(true)],
    ['it is not clear whose it is', asking('q1', 'q2'), resumed(true)],
    ['an id is not open', asking('q1', 'q2'), resumed({ q1: 1, q3: 2 })],
    ['it is null', asking('q1'), resumed(null)],
    ['it is absent', asking('q1'), { command: {} }],
    ['there is no command', asking('q1'), 'resume'],
  ])('is none when %s', (_, thread, forwardedProps) => {
    expect(legacyAnswers(thread, forwardedProps)).toEqual([])
  })

  it('is what the run goes on with, unless the request has answers of its own', () => {
    const interrupts: Interrupt[] = [{ id: 'q1', reason: 'input_required' }]
    const request = planRequest({ stored: [], client: [], interrupts })
    const input = { ...request.input, forwardedProps: resumed('yes') }
    expect(planRun({ ...request, input })).toMatchObject({ type: 'run', resume: [resolved('q1', 'yes')] })
    const both = { ...input, resume: [resolved('q1', 'no') as ResumeEntry] }
    expect(planRun({ ...request, input: both })).toMatchObject({
      type: 'run',
      resume: [resolved('q1', 'no')],
    })
  })
})
