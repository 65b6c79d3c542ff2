import { describe, expect, it } from 'vitest'
import { shorthand, talk } from '../../../test/support/talk.js'
import { turnRequest, type TurnFacts } from '../../../test/support/plan-request.js'
import { planTurn, type TurnPlan } from './plan-run.js'

const plan = (facts: TurnFacts): TurnPlan => planTurn(turnRequest({ ...facts, history: 'client' }))

function brief(facts: TurnFacts): string {
  const given = plan(facts)
  return 'messages' in given ? `${given.type} ${shorthand(given.messages)}` : given.type
}

describe('when the history is the client’s', () => {
  it.each<[string, TurnFacts, string]>([
    ['its messages are the conversation', { client: 's1 u1 a1 u2' }, 'run s1 u1 a1 u2'],
    ['what is stored does not count', { stored: 'u1 a1 u2', client: 'u8 a8 u9' }, 'run u8 a8 u9'],
    ['reasoning and results are taken', { client: 'u1 r1 a1(c1) t-c1' }, 'run u1 r1 a1(c1) t-c1'],
    ['an empty list is nothing to do', { stored: 'u1', client: '' }, 'nothing'],
    ['a list that ends with an answer is nothing to do', { client: 'u1 a1' }, 'nothing'],
    [
      'an answered question is something to do',
      { stored: 'u1 a1', client: 'u1 a1', interrupts: [{ id: 'q1', reason: 'x' }], resume: ['q1'] },
      'run u1 a1',
    ],
    [
      'an open question is asked again',
      { stored: 'u1 a1', client: 'u1 a1', interrupts: [{ id: 'q1', reason: 'x' }] },
      'run u1 a1',
    ],
    ['a result of an unknown call is not refused', { stored: 'u1', client: 'u1 t-c9' }, 'run u1 t-c9'],
  ])('%s', (_what, facts, expected) => {
    expect(brief(facts)).toBe(expected)
  })

  it('what is the same as stored is kept', () => {
    const given = plan({ stored: 'u1 a1 u2 a2', client: 'u1 a1 u2* u3' })
    expect(given).toMatchObject({ change: { keep: 2, append: talk('u2* u3') }, fork: false })
  })

  it('a shorter list cuts the stored one, and that is no fork', () => {
    const given = plan({ stored: 'u1 a1 u2 a2', client: 'u1' })
    expect(given).toMatchObject({ messages: talk('u1'), change: { keep: 1, append: [] }, fork: false })
  })

  it('the state is the client’s, except for an empty one and the keys of the server', () => {
    const facts = { stored: 'u1 a1', client: 'u9', state: { a: 1, secret: 2 } }
    expect(plan({ ...facts, clientState: { b: 1 } })).toHaveProperty('state', { b: 1, secret: 2 })
    expect(plan({ ...facts, clientState: {} })).toHaveProperty('state', facts.state)
  })

  it('the opening has the state that the client lacks, and never messages', () => {
    const facts = { stored: 'u1 a1', client: 'u9', state: { a: 1 } }
    expect(plan({ ...facts, clientState: { a: 1 } })).toMatchObject({ opening: [] })
    expect(plan({ ...facts, clientState: {} })).toMatchObject({ opening: [{ type: 'STATE_SNAPSHOT' }] })
  })
})
