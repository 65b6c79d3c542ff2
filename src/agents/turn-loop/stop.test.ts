import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { aborted, deferred, settled } from '../../../test/support/run-agent.js'
import { heard, talk, toolOf, watchTurns } from '../../../test/support/watch-turns.js'
import { manualClock } from '../../core/clock.js'
import { scriptedModel, type Script } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import { sequential } from '../workflows/sequential.js'
import type { TurnLoopOptions } from './contract.js'
import { createTurnLoop } from './turn-loop.js'

const call = (id: string, name: string) => ({ toolCall: { id, name } })

/** A turn with a tool at work, which finishes when it is told to. */
async function working(options: TurnLoopOptions = {}) {
  const begun = deferred()
  const done = deferred()
  const ran: string[] = []
  const slow = toolOf('slow', async ({ signal }) => {
    ran.push('slow')
    begun.resolve()
    await Promise.race([done.promise, aborted(signal)])
    signal.throwIfAborted()
    return 'done'
  })
  const script: Script = ({ messages }) =>
    messages.at(-1)?.role === 'tool' ? 'Good.' : messages.length > 2 ? 'Next.' : [call('c1', 'slow')]
  const talking = talk(script, [slow], options)
  talking.loop.push('Go.')
  await begun.promise
  const again = () =>
    talk(script, [slow], { saved: JSON.parse(JSON.stringify(talking.loop.save())) as unknown })
  return { ...talking, done, ran, again }
}

const closed = expect.objectContaining({ code: 'RUN_CLOSED' }) as Error

describe('a loop that is stopped', () => {
  test('finishes the turn at work, and takes nothing more', async () => {
    const { loop, done, ends, read } = await working()
    loop.push('Later.')
    const stopped = loop.stop()
    expect(() => loop.push('Too late.')).toThrow(closed)
    expect(() => loop.answer([])).toThrow(closed)
    expect(loop.status).toBe('running')
    done.resolve()
    await stopped
    await read
    expect(ends()).toEqual(['success'])
    expect(loop).toMatchObject({ status: 'stopped', unhandled: [{ content: 'Later.' }] })
    expect(() => loop.push('Too late.')).toThrow('The turn loop was stopped and takes nothing more.')
  })

  test('at a safe point goes on from there when it starts again, before what was queued', async () => {
    const { loop, done, ends, ran, again } = await working()
    loop.push('Later.')
    const stopped = loop.stop({ at: 'tools' })
    done.resolve()
    await stopped
    expect(ends()).toEqual(['cancelled'])
    expect(loop.unhandled).toHaveLength(1)
    const second = again()
    await second.loop.idle()
    expect(second.ends()).toEqual(['success', 'success'])
    expect(second.model.requests.map(heard)).toEqual([
      ['user: Go.', 'assistant: ', 'tool: done'],
      ['user: Go.', 'assistant: ', 'tool: done', 'assistant: Good.', 'user: Later.'],
    ])
    expect(ran).toEqual(['slow'])
  })

  test('now cuts the turn off; started again, it does again what was cut off', async () => {
    const { loop, done, ends, ran, again } = await working()
    await loop.stop({ at: 'now' })
    expect(ends()).toEqual(['cancelled'])
    done.resolve()
    const second = again()
    await second.loop.idle()
    expect(second.ends()).toEqual(['success'])
    expect(ran).toEqual(['slow', 'slow'])
  })

  test('before its turn has begun tries it when it starts again', async () => {
    const first = talk([])
    first.loop.push('Hi!')
    await first.loop.stop({ at: 'now' })
    expect(first.ends()).toEqual(['cancelled'])
    const second = talk(['Hello.'], [], { saved: first.loop.save() })
    await second.loop.idle()
    expect(second.ends()).toEqual(['success'])
    expect(second.loop.messages.map(({ content }) => content)).toEqual(['Hi!', 'Hello.'])
  })

  test.each(['preempt', 'after-tools'] as const)(
    'while a message stops its turn, with %s, goes on with that message',
    async (mode) => {
      const { loop, done, again } = await working()
      loop.push('Stop!', { mode })
      const stopped = loop.stop({ at: 'tools' })
      done.resolve()
      await stopped
      const second = again()
      await second.loop.idle()
      expect(second.ends()).toEqual(['success'])
      expect(second.model.requests.map(heard)).toEqual([
        ['user: Go.', 'assistant: ', 'tool: done', 'user: Stop!'],
      ])
    },
  )

  test.each(['end', 'model', 'tools'] as const)('at %s is cut off when its time is over', async (at) => {
    const clock = manualClock()
    const { loop, ends } = await working({ clock })
    const stopped = loop.stop({ at, timeoutMs: 100 })
    await clock.advance(99)
    expect(loop.status).toBe('running')
    await clock.advance(1)
    await stopped
    expect(ends()).toEqual(['cancelled'])
    expect(clock.pending).toBe(0)
  })

  test('leaves no timer behind when the turn ends in time', async () => {
    const clock = manualClock()
    const { loop, done, ends } = await working({ clock })
    const stopped = loop.stop({ timeoutMs: 100 })
    done.resolve()
    await stopped
    expect([ends(), clock.pending]).toEqual([['success'], 0])
  })

  test('twice is stopped sooner', async () => {
    const { loop, ends } = await working()
    const first = loop.stop()
    await loop.stop({ at: 'now' })
    await first
    await loop.stop()
    expect(ends()).toEqual(['cancelled'])
  })

  test('at rest is over at once', async () => {
    const { loop, turns, read } = talk(['Hello.'])
    loop.push('Hi!')
    await loop.idle()
    await loop.stop()
    await read
    expect(loop.status).toBe('stopped')
    expect(turns()).toHaveLength(1)
    await loop.idle()
  })

  test('is stopped by its signal as well, and lets go of it', async () => {
    const controller = new AbortController()
    const { loop, ends, read } = await working({ signal: controller.signal })
    controller.abort()
    await read
    expect(loop.status).toBe('stopped')
    expect(ends()).toEqual(['cancelled'])
    const lasting = new AbortController()
    const other = talk([], [], { signal: lasting.signal })
    await other.loop.stop()
    expect(getEventListeners(lasting.signal, 'abort')).toEqual([])
  })

  test('does nothing when its signal has aborted before it starts', async () => {
    const { loop, turns, read } = talk([], [], { signal: AbortSignal.abort() })
    await read
    expect(() => loop.push('Hi!')).toThrow(closed)
    expect(turns()).toEqual([])
  })

  test('is stopped by a reader that leaves', async () => {
    const agent = defineAgent({ name: 'a', model: scriptedModel([['Half', { wait: aborted }]]) })
    const loop = createTurnLoop(agent)
    loop.push('Hi!')
    for await (const event of loop.events) if (event.type === 'TEXT_MESSAGE_CONTENT') break
    await loop.idle()
    expect(loop).toMatchObject({ status: 'stopped', outcome: { type: 'cancelled' } })
  })

  test('that nobody reads does not wait for a reader', async () => {
    const words = Array.from({ length: 40 }, (_, index) => `word ${index} `)
    const agent = defineAgent({ name: 'a', model: scriptedModel([words]) })
    const loop = createTurnLoop(agent, { bufferSize: 4 })
    loop.push('Hi!')
    await settled()
    await loop.stop()
    expect(loop.outcome).toMatchObject({ type: 'completed' })
  })
})

test('a workflow that is stopped goes on where it was', async () => {
  const begun = deferred()
  const done = deferred()
  const slow = toolOf('slow', async () => {
    begun.resolve()
    await done.promise
    return 'done'
  })
  const asked: string[] = []
  const step = (name: string, script: Script) => {
    const model = scriptedModel((request, index) => {
      asked.push(name)
      return typeof script === 'function' ? script(request, index) : (script[index] ?? [])
    })
    return defineAgent({ name, model, tools: [slow] })
  }
  const flow = () =>
    sequential({
      name: 'flow',
      agents: [
        step('first', ['One.']),
        step('second', ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Two.' : [call('c1', 'slow')])),
      ],
    })
  const first = watchTurns(flow())
  first.loop.push('Go.')
  await begun.promise
  const stopped = first.loop.stop({ at: 'tools' })
  done.resolve()
  await stopped
  const second = watchTurns(flow(), { saved: JSON.parse(JSON.stringify(first.loop.save())) as unknown })
  await second.loop.idle()
  expect([first.ends(), second.ends()]).toEqual([['cancelled'], ['success']])
  expect(asked).toEqual(['first', 'second', 'second'])
})
