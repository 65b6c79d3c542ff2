import { createEvent, createSession, type Event } from '@google/adk'
import { expect, it } from 'vitest'
import type { Content } from '../adk-types.js'
import { userFirst } from './user-first.js'

const call = (id: string): Content => ({
  role: 'model',
  parts: [{ functionCall: { id, name: 'pick', args: {} } }],
})
const says = (text: string, fields: Partial<Event> = {}): Event =>
  createEvent({ author: 'user', content: { role: 'user', parts: [{ text }] }, ...fields })

function context(events: Event[], fields: { branch?: string; isolationScope?: string } = {}) {
  return {
    session: createSession({ id: 's', appName: 'app', userId: 'ann', events, lastUpdateTime: 0, state: {} }),
    ...fields,
  }
}

/** What stands in front of a call. */
function front(events: Event[], fields?: { branch?: string; isolationScope?: string }): unknown {
  const contents = userFirst([call('c2')], context(events, fields))
  expect(contents[1]).toEqual(call('c2'))
  return contents[0]?.parts
}

const called = (id: string): Event => createEvent({ author: 'painter', content: call(id) })

it('leaves a conversation that the user begins', () => {
  const contents: Content[] = [{ role: 'user', parts: [{ text: 'hi' }] }, call('c1')]
  expect(userFirst(contents, context([]))).toBe(contents)
  expect(userFirst([], context([]))).toEqual([])
})

it('puts the newest text of the user before the call in front', () => {
  expect(front([says('first'), called('c1'), says('second'), called('c2'), says('later')])).toEqual([
    { text: 'second' },
  ])
})

it('takes a text that the branch of the agent has heard', () => {
  const events = [
    says('all'),
    says('mine', { branch: 'flow.a' }),
    says('other', { branch: 'flow.b' }),
    says('hidden', { isolationScope: 'x' }),
    createEvent({ author: 'painter', content: { role: 'user', parts: [{ text: 'no user' }] } }),
    called('c2'),
  ]
  expect(front(events, { branch: 'flow.a.deep' })).toEqual([{ text: 'mine' }])
  expect(front(events, { branch: 'flow' })).toEqual([{ text: 'all' }])
  expect(front(events, { isolationScope: 'x' })).toEqual([{ text: 'hidden' }])
})

it('begins with a word of its own when there is no such text', () => {
  expect(front([called('c2')])).toEqual([{ text: 'Begin.' }])
})
