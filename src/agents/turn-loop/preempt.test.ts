import { describe, expect, test } from 'vitest'
import { aborted, deferred, resultsIn, settled } from '../../../test/support/run-agent.js'
import { heard, talk, toolOf, watchTurns } from '../../../test/support/watch-turns.js'
import { manualClock } from '../../core/clock.js'
import type { Script } from '../../models/index.js'
import type { TurnLoopOptions } from './contract.js'

const call = (id: string, name: string) => ({ toolCall: { id, name } })
const notCarriedOut = 'tool: The call of slow was cancelled: it was not carried out and has no result.'

/** A turn that can be met while the model speaks, while a tool works, and after it. */
function build(options: TurnLoopOptions = {}) {
  const speaking = deferred()
  const called = deferred()
  const working = deferred()
  const done = deferred()
  const signals: AbortSignal[] = []
  const slow = toolOf('slow', async ({ signal }) => {
    signals.push(signal)
    working.resolve()
    await Promise.race([done.promise, aborted(signal)])
    return 'done'
  })
  const script: Script = ({ messages }, index) => {
    if (index > 0) return `Heard ${messages.filter(({ role }) => role === 'user').length}.`
    speaking.resolve()
    return ['Let me.', { wait: called.promise }, call('c1', 'slow')]
  }
  return { speaking, called, working, done, signals, ...talk(script, [slow], options) }
}

describe('a message that preempts', () => {
  test('lets the model answer, and calls no tools', async () => {
    const { loop, speaking, called, model, turns, ends } = build()
    loop.push('Go.')
    await speaking.promise
    loop.push('Stop!', { mode: 'preempt' })
    await settled()
    expect(loop.status).toBe('running')
    called.resolve()
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(turns().flatMap(resultsIn)).toEqual([])
    expect(heard(model.requests[1])).toEqual([
      'user: Go.',
      'assistant: Let me.',
      notCarriedOut,
      'user: Stop!',
    ])
  })

  test('lets tools at work finish, and their results stay', async () => {
    const { loop, called, working, done, model, turns, ends } = build()
    loop.push('Go.')
    called.resolve()
    await working.promise
    loop.push('Stop!', { mode: 'preempt' })
    done.resolve()
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(turns().map(resultsIn)).toEqual([['c1: done'], []])
    expect(heard(model.requests[1])).toEqual(['user: Go.', 'assistant: Let me.', 'tool: done', 'user: Stop!'])
  })

  test('takes along what was queued before it, in order', async () => {
    const { loop, speaking, called, model, ends } = build()
    loop.push('Go.')
    await speaking.promise
    loop.push('Two.')
    loop.push('Three.', { mode: 'preempt' })
    loop.push('Four.')
    called.resolve()
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(heard(model.requests[1]).slice(-3)).toEqual(['user: Two.', 'user: Three.', 'user: Four.'])
  })

  test('cuts the turn off when its time is over', async () => {
    const clock = manualClock()
    const { loop, called, working, signals, model, ends } = build({ clock })
    loop.push('Go.')
    called.resolve()
    await working.promise
    loop.push('Stop!', { mode: 'preempt', timeoutMs: 100 })
    await clock.advance(99)
    expect(signals.map((signal) => signal.aborted)).toEqual([false])
    await clock.advance(1)
    await loop.idle()
    expect(signals.map((signal) => signal.aborted)).toEqual([true])
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(heard(model.requests[1]).at(-2)).toBe(notCarriedOut)
    expect(clock.pending).toBe(0)
  })

  test('means the turn it met, and none that comes after', async () => {
    const clock = manualClock()
    const answer = deferred()
    const later = deferred()
    const { loop, ends } = talk(
      [
        ['One', { wait: answer.promise }, '.'],
        ['Two', { wait: later.promise }, '.'],
      ],
      [],
      { clock },
    )
    loop.push('Go.')
    await settled()
    loop.push('Stop!', { mode: 'preempt', timeoutMs: 100 })
    answer.resolve()
    await settled()
    expect(ends()).toEqual(['success', undefined])
    await clock.advance(1000)
    later.resolve()
    await loop.idle()
    expect(ends()).toEqual(['success', 'success'])
  })

  test('is like any other when no turn is at work', async () => {
    const { loop, ends } = talk(['One.', 'Two.', 'Three.'])
    for (const mode of ['preempt', 'after-tools', 'now'] as const) {
      loop.push('Go.', { mode, timeoutMs: 0 })
      await loop.idle()
    }
    expect(ends()).toEqual(['success', 'success', 'success'])
  })
})

describe('a message after tools', () => {
  test('lets the tools run that the model is about to call; the model reads their results with it', async () => {
    const { loop, speaking, called, done, model, ends, turns } = build()
    loop.push('Go.')
    await speaking.promise
    loop.push('Hurry!', { mode: 'after-tools' })
    called.resolve()
    done.resolve()
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(turns().map(resultsIn)).toEqual([['c1: done'], []])
    expect(heard(model.requests[1])).toEqual([
      'user: Go.',
      'assistant: Let me.',
      'tool: done',
      'user: Hurry!',
    ])
    expect(model.requests).toHaveLength(2)
  })

  test('follows a turn that calls none', async () => {
    const answer = deferred()
    const { loop, ends } = talk([['One', { wait: answer.promise }, '.'], 'Two.'])
    loop.push('Go.')
    await settled()
    loop.push('Hurry!', { mode: 'after-tools' })
    answer.resolve()
    await loop.idle()
    expect(ends()).toEqual(['success', 'success'])
  })

  test('cuts the turn off when its time is over', async () => {
    const clock = manualClock()
    const { loop, called, working, ends } = build({ clock })
    loop.push('Go.')
    called.resolve()
    await working.promise
    loop.push('Hurry!', { mode: 'after-tools', timeoutMs: 100 })
    await clock.advance(100)
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
  })
})

describe('a message now', () => {
  test('cuts the turn off, and what was said stays', async () => {
    const { loop, speaking, model, ends } = build()
    loop.push('Go.')
    await speaking.promise
    await settled()
    loop.push('Stop!', { mode: 'now' })
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(heard(model.requests[1])).toEqual(['user: Go.', 'assistant: Let me.', 'user: Stop!'])
    expect(loop.messages[1]).toMatchObject({ metadata: { millrace: { cutOff: true } } })
  })

  test('is not too early for a turn that has just begun: the model hears both', async () => {
    const { loop, model, ends } = talk(['Both.'])
    loop.push('Go.')
    loop.push('Stop!', { mode: 'now' })
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(model.requests.map(heard)).toEqual([['user: Go.', 'user: Stop!']])
  })

  test('overtakes a message that waits for a safe point', async () => {
    const { loop, called, working, ends, model } = build()
    loop.push('Go.')
    called.resolve()
    await working.promise
    loop.push('Hurry!', { mode: 'after-tools' })
    loop.push('Stop!', { mode: 'now' })
    await loop.idle()
    expect(ends()).toEqual(['cancelled', 'success'])
    expect(heard(model.requests[1]).slice(-2)).toEqual(['user: Hurry!', 'user: Stop!'])
  })
})

test('a turn that ends as cancelled without being asked to is over', async () => {
  const { loop, ends } = watchTurns({
    name: 'a',
    description: '',
    // eslint-disable-next-line require-yield, @typescript-eslint/require-await
    async *run() {
      return { type: 'cancelled' }
    },
  })
  loop.push('Go.')
  await loop.idle()
  expect(ends()).toEqual(['cancelled'])
})
