import { describe, expect, it } from 'vitest'
import { shorthand, talk } from '../../../test/support/talk.js'
import { planRequest, type PlanFacts } from '../../../test/support/plan-request.js'
import { planRun } from './plan-run.js'

function brief(facts: PlanFacts): string {
  const plan = planRun(planRequest(facts))
  if (!('messages' in plan)) return plan.type
  return `${plan.fork ? 'fork' : plan.type} ${shorthand(plan.messages)}`
}

describe('a thread is cut', () => {
  it.each([
    ['when the user goes on from an earlier place', 'u1 a1 u2 a2', 'u1 a1 u3', 'fork u1 a1 u3'],
    ['when the user goes on from an earlier message', 'u1 a1 u2 a2', 'u1 u3', 'fork u1 u3'],
    ['when the last answer is regenerated', 'u1 a1 u2 a2', 'u1 a1 u2', 'fork u1 a1 u2'],
    ['when an earlier answer is regenerated', 'u1 a1 u2 a2', 'u1', 'fork u1'],
    ['when an answer to a result is regenerated', 'u1 a1(c1) t-c1 a2', 'u1 a1 t-c1', 'fork u1 a1(c1) t-c1'],
    ['when a user message is edited', 'u1 a1 u2 a2', 'u1 a1 u2*', 'fork u1 a1 u2'],
    ['when the first message is edited', 'u1 a1 u2 a2', 'u1*', 'fork u1'],
    ['when the last message is edited', 'u1 a1 u2', 'u1 a1 u2*', 'fork u1 a1 u2'],
    ['when an old message is edited and all are sent', 'u1 a1 u2 a2', 'u1* a1 u2 a2', 'fork u1'],
    ['with what is new behind the edited message', 'u1 a1 u2 a2', 'u1 a1 u2* s1 u3', 'fork u1 a1 u2 s1 u3'],
    ['with what is new before the edited message', 'u1 a1 u2 a2', 's1 u1 a1 u2*', 'fork u1 a1 s1 u2'],
    ['behind a prompt that the client has', 'u1 a1 s1 u2 a2', 'u1 a1 s1 u3', 'fork u1 a1 s1 u3'],
    ['when a client that leaves prompts out goes on', 's1 u1 a1 u2 a2', 'u1 a1 u3', 'fork s1 u1 a1 u3'],
    ['before the first of two edits', 'u1 a1 u2 a2', 'u1* a1 u2*', 'fork u1'],
    ['when a client that dropped old messages edits', 'u1 a1 u2 a2', 'u2*', 'fork u1 a1 u2'],
    [
      'behind the reasoning before the last known message',
      'u1 r1 a1 r2 u2 a2',
      'u1 a1 u3',
      'fork u1 r1 a1 u3',
    ],
    ['before the reasoning of what is replaced', 'u1 r1 v1 a1', 'u1', 'fork u1'],
    ['also when reasoning is sent back', 'u1 r1 a1 u2 r2 a2', 'u1 r1 a1 u2', 'fork u1 r1 a1 u2'],
    ['also when the client has messages of its own', 'u1 a1 u2 a2', 'a9 u1 a1 u3', 'fork u1 a1 u3'],
  ])('%s', (_what, stored, client, expected) => {
    expect(brief({ stored, client })).toBe(expected)
  })

  it('by a change of what is stored', () => {
    expect(planRun(planRequest({ stored: 'u1 a1 u2 a2', client: 'u1 a1 u2* u3' }))).toMatchObject({
      type: 'run',
      change: { keep: 2, append: [{ id: 'u2', content: 'text of u2*' }, { id: 'u3' }] },
    })
  })

  it('when the same text comes in other parts', () => {
    const stored = talk('u1 a1')
    const client = [{ id: 'u1', role: 'user' as const, content: [{ type: 'text' as const, text: 'other' }] }]
    expect(brief({ stored, client })).toBe('fork u1')
    expect(
      brief({ stored: [...client, ...talk('a1')], client: [...structuredClone(client), ...talk('a1')] }),
    ).toBe('nothing')
  })

  it('without results for what is cut off', () => {
    const facts = { stored: 'u1 a1 u2 a2(c2)', pending: ['c2'], client: 'u1 a1 t-c2 u3' }
    expect(brief(facts)).toBe('fork u1 a1 u3')
  })
})

describe('a thread stays whole', () => {
  it.each([
    ['when the client knows nothing of it', 'u1 a1 u2 a2', 'u8 u9', 'run u1 a1 u2 a2 u8 u9'],
    ['when the front is missing', 'u1 a1 u2 a2', 'u2 a2 u3', 'run u1 a1 u2 a2 u3'],
    ['when the front and the end are missing', 'u1 a1 u2 a2', 'a1 u2', 'nothing'],
    ['when one in the middle is missing', 'u1 a1 u2 a2', 'u1 u2 u3', 'run u1 a1 u2 a2 u3'],
    ['when the order differs', 'u1 a1 u2 a2', 'a1 u1 u3', 'run u1 a1 u2 a2 u3'],
    ['when a list ends with an answer', 'u1 a1 u2 a2', 'u1 a1', 'nothing'],
    ['when what is new stands before what is known', 'u1 a1 u2 a2', 'u9 u1 a1', 'run u1 a1 u2 a2 u9'],
    ['when only reasoning is missing', 'u1 a1 r2', 'u1 a1', 'nothing'],
    ['when only a prompt of the application is known', 's1 u1 a1', 's1 u2', 'run s1 u1 a1 u2'],
    ['when prompts are left out', 's1 u1 a1 d1 u2 a2', 'u1 a1 u2 a2 u3', 'run s1 u1 a1 d1 u2 a2 u3'],
    [
      'when the request with one of several results comes again',
      'u1 a1(c1,c2) t-c1 t-c2 a2',
      'u1 a1 t-c1',
      'nothing',
    ],
    ['when another than a user message is changed', 'u1 s1 a1', 'u1 s1* a1*', 'nothing'],
  ])('%s', (_what, stored, client, expected) => {
    expect(brief({ stored, client })).toBe(expected)
  })

  it('when the request of the latest run comes again', () => {
    const facts = { stored: 'u1 a1 u2 a2', client: 'u1 a1 u2', runId: 'run-1' }
    expect(brief(facts)).toBe('nothing')
    // But a run that failed halfway may be tried again.
    expect(brief({ ...facts, status: 'failed' })).toBe('fork u1 a1 u2')
  })
})

describe('a request that had to wait for another run', () => {
  const stored = 'u1 a1(c1) t-c1 a2'

  it.each<[string, PlanFacts, string]>([
    [
      'adds to what that run has said',
      { stored, client: 'u1 u2', messagesOnArrival: 1 },
      'run u1 a1(c1) t-c1 a2 u2',
    ],
    [
      'has nothing new when it only has what that began with',
      { stored, client: 'u1', messagesOnArrival: 1 },
      'nothing',
    ],
    [
      'may still go on from an earlier place',
      { stored: 'u1 a1 u2 a2', client: 'u1 u3', messagesOnArrival: 3 },
      'fork u1 u3',
    ],
    ['may still edit', { stored, client: 'u1*', messagesOnArrival: 1 }, 'fork u1'],
  ])('%s', (_what, facts, expected) => {
    expect(brief(facts)).toBe(expected)
  })
})
