import { createEvent, type Event } from '@google/adk'
import { expect, it } from 'vitest'
import type { Part } from '../adk-types.js'
import { withWholeAnswers } from './whole-answers.js'

const call = (id: string): Part => ({ functionCall: { id, name: id, args: {} } })
const result = (id: string, value = 'ok'): Part => ({
  functionResponse: { id, name: id, response: { value } },
})

/** An event of the agent, and those of its calls that the client answers. */
function event(parts: Part[], fields: Partial<Event> = {}): Event {
  const role = parts.some(({ functionResponse }) => functionResponse) ? 'user' : 'model'
  return createEvent({ author: 'a', invocationId: 'i1', content: { role, parts }, ...fields })
}

const waiting = (id: string): Event => event([call(id)], { longRunningToolIds: [id] })

const shown = (events: readonly Event[]): string[] =>
  withWholeAnswers(events, 'a').map(({ content }) =>
    (content?.parts ?? [])
      .map(({ text, functionCall, functionResponse: response }) =>
        response ? `${response.id}=${String(response.response?.value)}` : (text ?? functionCall?.id),
      )
      .join(' '),
  )

it('calls that came while one waits are of the same answer, results stand in their order', () => {
  const events = [waiting('c1'), event([call('c2')]), event([result('c2')]), waiting('c3')]
  expect(shown([...events, event([result('c3'), result('c1')])])).toEqual(['c1 c2 c3', 'c1=ok c2=ok c3=ok'])
})

it('a call that was stopped in the middle is no part of what the model does next', () => {
  const events = [event([call('c1')]), event([call('c2')]), event([result('c2')]), event([{ text: 'Done.' }])]
  expect(shown(events)).toEqual(['c1', 'c2', 'c2=ok', 'Done.'])
})

it('a later run is another answer, though a call was never answered', () => {
  const next = event([call('c2')], { invocationId: 'i2' })
  expect(shown([waiting('c1'), next, event([result('c2')])])).toEqual(['c1', 'c2', 'c2=ok'])
})

it('a result replaces the one that says that the tool waits', () => {
  const actions = { ...createEvent({}).actions, requestedAuthConfigs: { c1: {} as never } }
  const events = [event([call('c1')]), event([result('c1', 'wait')], { actions }), event([call('c2')])]
  expect(shown([...events, event([result('c2')]), event([result('c1')])])).toEqual(['c1 c2', 'c1=ok c2=ok'])
})

it('events of others, and their branches, stay apart', () => {
  const other = event([call('x')], { author: 'b', longRunningToolIds: ['x'] })
  const branched = event([call('c2')], { branch: 'lanes.a' })
  expect(shown([waiting('c1'), other, branched, event([result('c1')])])).toEqual(['c1', 'c1=ok', 'x', 'c2'])
})

it('an answer is as new as its newest result, and nothing is changed', () => {
  const events = [
    event([call('c1')], { timestamp: 1 }),
    event([{ text: 'x' }], { timestamp: 2 }),
    event([result('c1')], { timestamp: 3 }),
  ]
  const before = JSON.stringify(events)
  expect(withWholeAnswers(events, 'a').map(({ timestamp }) => timestamp)).toEqual([3, 3, 2])
  expect(JSON.stringify(events)).toBe(before)
})
