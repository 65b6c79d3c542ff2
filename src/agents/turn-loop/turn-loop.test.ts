import { describe, expect, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { heard, talk, toolOf } from '../../../test/support/watch-turns.js'
import { scriptedModel } from '../../models/index.js'
import type { AgUiEvent } from '../../protocol/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { createTurnLoop } from './turn-loop.js'

const call = (id: string, name: string) => ({ toolCall: { id, name } })

describe('a loop', () => {
  test('runs a turn for what is pushed, and carries the conversation on', async () => {
    const { loop, model, turns, ends } = talk(['Hello.', 'Bye.'])
    expect(loop.status).toBe('idle')
    loop.push('Hi!')
    expect(loop.status).toBe('running')
    await loop.idle()
    expect(loop).toMatchObject({ status: 'idle', outcome: { type: 'completed', text: 'Hello.' } })
    loop.push('See you!')
    await loop.idle()
    expect(heard(model.requests[1])).toEqual(['user: Hi!', 'assistant: Hello.', 'user: See you!'])
    expect(loop.messages.map(({ content }) => content)).toEqual(['Hi!', 'Hello.', 'See you!', 'Bye.'])
    expect(turns()).toHaveLength(2)
    expect(ends()).toEqual(['success', 'success'])
  })

  test('begins with the conversation, the state and the thread it is given', async () => {
    const first = { id: 'u0', role: 'user', content: 'Before.' } as const
    const { loop, model, turns } = talk(['Hello.'], [], {
      threadId: 't',
      messages: [first],
      state: { step: 1 },
    })
    expect(loop).toMatchObject({ threadId: 't', messages: [first], state: { step: 1 } })
    loop.push('Hi!')
    await loop.idle()
    expect(heard(model.requests[0])).toEqual(['user: Before.', 'user: Hi!'])
    expect(turns()).toHaveLength(1)
  })

  test('carries the state on', async () => {
    const count = toolOf('count', ({ setState }) => {
      setState((state: { count?: number }) => ({ count: (state.count ?? 0) + 1 }))
      return 'counted'
    })
    const { loop, turns } = talk([[call('c1', 'count')], 'One.', [call('c2', 'count')], 'Two.'], [count])
    loop.push('Count.')
    await loop.idle()
    expect(loop.state).toEqual({ count: 1 })
    loop.push('Again.')
    await loop.idle()
    expect(loop.state).toEqual({ count: 2 })
    expect(turns()).toHaveLength(2)
  })

  test('runs what was pushed during a turn in the next one, all of it together', async () => {
    const answer = deferred()
    const { loop, model, ends } = talk([['Hello', { wait: answer.promise }, '.'], 'Fine.'])
    loop.push('Hi!')
    await settled()
    loop.push('And')
    loop.push([
      { id: 'u2', role: 'user', content: 'how are' },
      { id: 'u3', role: 'user', content: 'you?' },
    ])
    expect(loop.unhandled.map(({ content }) => content)).toEqual(['And', 'how are', 'you?'])
    answer.resolve()
    await loop.idle()
    expect(ends()).toEqual(['success', 'success'])
    expect(heard(model.requests[1])).toEqual([
      'user: Hi!',
      'assistant: Hello.',
      'user: And',
      'user: how are',
      'user: you?',
    ])
    expect(loop.unhandled).toEqual([])
  })

  test('lives on after a turn that failed, and the next one knows what was said', async () => {
    const { loop, model, ends } = talk([[{ error: { status: 400 } }], 'Here I am.'])
    loop.push('Hi!')
    await loop.idle()
    expect(loop).toMatchObject({ status: 'idle', outcome: { type: 'failed' } })
    loop.push('Hello?')
    await loop.idle()
    expect(ends()).toEqual(['MODEL_ERROR', 'success'])
    expect(heard(model.requests[1])).toEqual(['user: Hi!', 'user: Hello?'])
  })

  test('leaves out a message that was pushed before, whether or not it has been run', async () => {
    const answer = deferred()
    const { loop, model, ends } = talk([[{ wait: answer.promise }, 'Hello.'], 'Fine.'])
    const [one, two] = [
      { id: 'u1', role: 'user', content: 'Hi!' },
      { id: 'u2', role: 'user', content: 'How are you?' },
    ] as const
    loop.push(one)
    await settled()
    loop.push([one, two, two], { mode: 'queue' })
    loop.push(two, { mode: 'now' })
    answer.resolve()
    await loop.idle()
    loop.push([one, two])
    expect(loop.status).toBe('idle')
    expect(model.requests).toHaveLength(2)
    expect(loop.messages.map(({ id }) => id).filter((id) => id.startsWith('u'))).toEqual(['u1', 'u2'])
    expect(ends()).toEqual(['success', 'success'])
  })

  test('refuses what is no message, and takes nothing of it', () => {
    const { loop } = talk([])
    const nameless = { role: 'user', content: 'Hi!' } as never
    expect(() => loop.push([{ id: 'u1', role: 'user', content: 'x' }, nameless])).toThrow(
      expect.objectContaining({ code: 'INVALID_INPUT' }),
    )
    expect(loop).toMatchObject({ status: 'idle', unhandled: [] })
  })

  test('that nobody reads is not held back once somebody waits for it', async () => {
    const loop = createTurnLoop(chatty(), { bufferSize: 4 })
    loop.push('One.')
    await settled()
    expect(loop.status).toBe('running')
    await loop.idle()
    loop.push('Two.')
    await loop.idle()
    expect(loop.messages.at(-1)).toMatchObject({ content: 'Two.' })
  })

  test('is held back by a slow reader, and loses nothing', async () => {
    const loop = createTurnLoop(chatty(), { bufferSize: 4 })
    const reader = loop.events[Symbol.asyncIterator]()
    loop.push('One.')
    const first = await reader.next()
    loop.push('Two.')
    await settled()
    expect(loop).toMatchObject({ status: 'running', outcome: undefined })
    const events = [first.value as AgUiEvent]
    while (events.filter(({ type }) => type === 'RUN_FINISHED').length < 2)
      events.push((await reader.next()).value as AgUiEvent)
    const text = events.map((event) => (event.type === 'TEXT_MESSAGE_CONTENT' ? event.delta : '')).join('')
    expect(text).toBe(`${words.join('')}Two.`)
  })

  test('can be read once', async () => {
    const { loop } = talk([])
    await settled()
    expect(() => loop.events[Symbol.asyncIterator]()).toThrow(expect.objectContaining({ code: 'RUN_CLOSED' }))
  })
})

const words = Array.from({ length: 40 }, (_, index) => `word ${index} `)

function chatty() {
  return defineAgent({ name: 'a', model: scriptedModel([words, 'Two.']) })
}
