import { createEvent, createSession, type Event } from '@google/adk'
import { describe, expect, it } from 'vitest'
import type { Content, Part } from '../adk-types.js'
import { noResult, repairContents, withUserFirst } from './repair-contents.js'

const call = (id: string | undefined, name = 'tool'): Part => ({
  functionCall: { ...(id && { id }), name, args: {} },
})
const result = (id: string | undefined, value: unknown = id, name = 'tool'): Part => ({
  functionResponse: { ...(id && { id }), name, response: { value } },
})
const none = (id: string | undefined, name = 'tool'): Part => ({
  functionResponse: { ...(id && { id }), name, response: noResult },
})
const user = (...parts: Part[]): Content => ({ role: 'user', parts })
const model = (...parts: Part[]): Content => ({ role: 'model', parts })
const text = (value: string): Part => ({ text: value })

describe('a conversation', () => {
  it.each<[string, Content[]]>([
    ['without calls', [user(text('hi')), model(text('hello'))]],
    ['with answered calls', [user(text('hi')), model(call('1'), call('2')), user(result('1'), result('2'))]],
    ['with calls without ids', [user(text('hi')), model(call(undefined)), user(result(undefined))]],
  ])('%s stays as it is', (_, contents) => expect(repairContents(contents)).toBe(contents))

  it.each<[string, Content[], Content[]]>([
    [
      'with parallel calls in separate chunks gives each its own result, once',
      [model(call('1')), user(result('1'), result('2')), model(call('2')), user(result('1'), result('2'))],
      [model(call('1')), user(result('1')), model(call('2')), user(result('2'))],
    ],
    [
      'with calls one after the other has their results behind each',
      [model(call('1')), model(call('2')), user(result('2'), result('1')), user(text('and?'))],
      [model(call('1')), user(result('1')), model(call('2')), user(result('2')), user(text('and?'))],
    ],
    [
      '#1334: with parallel calls of one tool has as many results as calls, in their order',
      [model(call('1'), call('2'), call('3')), user(result('3'), result('1'))],
      [model(call('1'), call('2'), call('3')), user(result('1'), none('2'), result('3'))],
    ],
    [
      'that the user went on with says that there is no result',
      [user(text('paint')), model(call('1')), user(text('never mind')), model(text('ok'))],
      [user(text('paint')), model(call('1')), user(none('1')), user(text('never mind')), model(text('ok'))],
    ],
    [
      'that was stopped in a tool says that there is no result',
      [user(text('go')), model(text('wait'), call('1'))],
      [user(text('go')), model(text('wait'), call('1')), user(none('1'))],
    ],
    [
      'with a late result has it behind its call',
      [model(call('1')), user(text('hm')), model(text('yes?')), user(result('1'), text('here'))],
      [model(call('1')), user(result('1')), user(text('hm')), model(text('yes?')), user(text('here'))],
    ],
    [
      '#1074: with two results for a call has the first',
      [model(call('1')), user(result('1', 'first'), result('1', 'second')), user(result('1', 'third'))],
      [model(call('1')), user(result('1', 'first'))],
    ],
    [
      'where a model used an id twice keeps its results apart',
      [model(call('1')), user(result('1', 'a')), model(call('1')), user(result('1', 'b')), model(call('2'))],
      [
        model(call('1')),
        user(result('1', 'a')),
        model(call('1')),
        user(result('1', 'b')),
        model(call('2')),
        user(none('2')),
      ],
    ],
    [
      'with a result of a call that is not there has it as text',
      [user(text('hi')), user(result('9', 1, 'sum'))],
      [user(text('hi')), user(text('The tool `sum` returned: {"value":1}'))],
    ],
    [
      'without ids goes by the names',
      [model(call(undefined, 'a'), call(undefined, 'b')), user(result(undefined, 1, 'b')), user(text('so?'))],
      [
        model(call(undefined, 'a'), call(undefined, 'b')),
        user(none(undefined, 'a'), result(undefined, 1, 'b')),
        user(text('so?')),
      ],
    ],
    [
      'without ids loses results that no call can have',
      [user(text('hi')), user(result(undefined)), model(call(undefined)), user(result(undefined, 2))],
      [user(text('hi')), model(call(undefined)), user(result(undefined, 2))],
    ],
    [
      'has no contents without parts',
      [user(text('hi')), model(), model(call('1')), user(result('1'))],
      [user(text('hi')), model(call('1')), user(result('1'))],
    ],
  ])('%s', (_, contents, repaired) => {
    const before = structuredClone(contents)
    expect(repairContents(contents)).toEqual(repaired)
    expect(contents).toEqual(before)
    expect(repairContents(repaired)).toBe(repaired)
  })
})

describe('a conversation that begins with the model', () => {
  const call = (id: string): Content => ({
    role: 'model',
    parts: [{ functionCall: { id, name: 'pick', args: {} } }],
  })
  const textEvent = (text: string, fields: Partial<Event> = {}): Event =>
    createEvent({ author: 'user', content: { role: 'user', parts: [{ text }] }, ...fields })

  function context(events: Event[], fields: { branch?: string; isolationScope?: string } = {}) {
    return {
      session: createSession({
        id: 's',
        appName: 'app',
        userId: 'ann',
        events,
        lastUpdateTime: 0,
        state: {},
      }),
      ...fields,
    }
  }

  /** What stands in front of a call. */
  function front(events: Event[], fields?: { branch?: string; isolationScope?: string }): unknown {
    const contents = withUserFirst([call('c2')], context(events, fields))
    expect(contents[1]).toEqual(call('c2'))
    return contents[0]?.parts
  }

  const called = (id: string): Event => createEvent({ author: 'painter', content: call(id) })

  it('leaves a conversation that the user begins', () => {
    const contents: Content[] = [{ role: 'user', parts: [{ text: 'hi' }] }, call('c1')]
    expect(withUserFirst(contents, context([]))).toBe(contents)
    expect(withUserFirst([], context([]))).toEqual([])
  })

  it('puts the newest text of the user before the call in front', () => {
    expect(
      front([textEvent('first'), called('c1'), textEvent('second'), called('c2'), textEvent('later')]),
    ).toEqual([{ text: 'second' }])
  })

  it('takes a text that the branch of the agent has heard', () => {
    const events = [
      textEvent('all'),
      textEvent('mine', { branch: 'flow.a' }),
      textEvent('other', { branch: 'flow.b' }),
      textEvent('hidden', { isolationScope: 'x' }),
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
})
