import type { Interrupt, Message, ResumeEntry } from '@ag-ui/core'
import { describe, expect, test } from 'vitest'
import { deferred, resultsIn, settled } from '../../../test/support/run-agent.js'
import { heard, talk, toolOf, watchTurns, type WatchedLoop } from '../../../test/support/watch-turns.js'
import { scriptedModel, type Script } from '../../models/index.js'
import { defineAgent } from '../chat/chat-agent.js'
import type { TurnLoopOptions } from './contract.js'

const call = (id: string, name: string) => ({ toolCall: { id, name } })
const resultOf = (toolCallId: string, content = 'done'): Message => ({
  id: `r-${toolCallId}`,
  role: 'tool',
  toolCallId,
  content,
})

function answerTo(interrupt: Interrupt | undefined, payload: unknown): ResumeEntry[] {
  return [{ interruptId: interrupt?.id ?? 'none', status: 'resolved', payload }]
}

/** Through text, as it would come from a disk. */
function savedOf({ loop }: WatchedLoop): unknown {
  return JSON.parse(JSON.stringify(loop.save()))
}

describe('a turn that asks', () => {
  const sent: unknown[] = []
  const send = toolOf('send', async ({ interrupt }) => {
    const answer = await interrupt({
      message: 'Send it?',
      responseSchema: { type: 'object', required: ['approved'] },
    })
    sent.push(answer)
    return answer.status === 'resolved' ? 'sent' : 'not sent'
  })
  const script: Script = ({ messages }) => {
    const last = messages.at(-1)
    if (last?.role === 'tool') return `It was ${JSON.stringify(last.content)}.`
    return last?.content === 'Send.' ? [call('c1', 'send')] : 'Fine.'
  }
  const asked = async (options: TurnLoopOptions = {}) => {
    sent.length = 0
    const talking = talk(script, [send], options)
    talking.loop.push('Send.')
    await talking.loop.idle()
    return talking
  }

  test('waits, and goes on with the answer', async () => {
    const { loop, turns, ends } = await asked()
    expect(loop).toMatchObject({ status: 'waiting', openInterrupts: [{ message: 'Send it?' }] })
    loop.answer(answerTo(loop.openInterrupts[0], { approved: true }))
    expect(loop).toMatchObject({ status: 'running', openInterrupts: [] })
    await loop.idle()
    expect(ends()).toEqual(['interrupt', 'success'])
    expect(turns().map(resultsIn)).toEqual([[], ['c1: sent']])
    expect(loop).toMatchObject({ status: 'idle', outcome: { text: 'It was "sent".' } })
  })

  test('keeps what is pushed meanwhile for the turn after it', async () => {
    const { loop, model, ends } = await asked()
    loop.push('By the way')
    loop.push('after that', { mode: 'after-tools' })
    await settled()
    expect(loop).toMatchObject({ status: 'waiting', unhandled: [{}, {}] })
    loop.answer(answerTo(loop.openInterrupts[0], { approved: true }))
    await loop.idle()
    expect(ends()).toEqual(['interrupt', 'success', 'success'])
    expect(heard(model.requests[2]).slice(-3)).toEqual([
      'assistant: It was "sent".',
      'user: By the way',
      'user: after that',
    ])
  })

  test('can be answered as soon as its last event is read', async () => {
    const agent = defineAgent({ name: 'a', model: scriptedModel(script), tools: [send] })
    const { loop, read, ends } = watchTurns(agent, {}, (event, own) => {
      if (event.type !== 'RUN_FINISHED') return
      if (event.outcome?.type === 'interrupt') own.answer(answerTo(own.openInterrupts[0], { approved: true }))
      else void own.stop()
    })
    loop.push('Send.')
    await read
    expect(ends()).toEqual(['interrupt', 'success'])
    expect(loop.outcome).toMatchObject({ text: 'It was "sent".' })
  })

  test.each(['preempt', 'now'] as const)('is given up for a message with %s', async (mode) => {
    const { loop, model, ends } = await asked()
    const [interrupt] = loop.openInterrupts
    loop.push('Never mind.', { mode })
    await loop.idle()
    expect(ends()).toEqual(['interrupt', 'success'])
    expect(heard(model.requests[1]).slice(-2)).toEqual([
      'tool: The call of send was cancelled: it was not carried out and has no result.',
      'user: Never mind.',
    ])
    expect(() => loop.answer(answerTo(interrupt, { approved: true }))).toThrow(
      expect.objectContaining({ code: 'INVALID_RESUME' }),
    )
    expect(sent).toEqual([])
  })

  test.each([
    ['it was preempted', ['preempt']],
    ['it was preempted, and then asked for less', ['preempt', 'after-tools']],
  ] as const)('is given up as well when it asks after %s', async (_when, modes) => {
    const begun = deferred()
    const ask = deferred()
    const late = toolOf('late', async ({ interrupt }) => {
      begun.resolve()
      await ask.promise
      return interrupt({ message: 'Really?' })
    })
    const { loop, ends } = talk([[call('c1', 'late')], 'Fine.'], [late])
    loop.push('Go.')
    await begun.promise
    for (const mode of modes) loop.push('Stop!', { mode })
    ask.resolve()
    await loop.idle()
    expect(ends()).toEqual(['interrupt', 'success'])
    expect(loop).toMatchObject({ status: 'idle', openInterrupts: [] })
  })

  test('stays open when the answer does not fit', async () => {
    const { loop, ends } = await asked()
    loop.answer(answerTo(loop.openInterrupts[0], {}))
    await loop.idle()
    expect(loop).toMatchObject({ status: 'waiting', openInterrupts: [{ message: 'Send it?' }] })
    loop.answer(answerTo(loop.openInterrupts[0], { approved: false }))
    await loop.idle()
    expect(ends()).toEqual(['interrupt', 'INVALID_RESUME', 'success'])
  })

  test('refuses answers to what was not asked, and says what is open', async () => {
    const { loop } = await asked()
    const [interrupt] = loop.openInterrupts
    expect(() => loop.answer([{ interruptId: 'x', status: 'cancelled' }])).toThrow(
      `There is no open interrupt 'x'. Open are: ${interrupt?.id ?? ''}.`,
    )
    loop.answer([{ interruptId: interrupt?.id ?? '', status: 'cancelled' }])
    expect(() => loop.answer([{ interruptId: 'x', status: 'cancelled' }])).toThrow('None is open.')
    await loop.idle()
    expect(sent).toEqual([{ status: 'cancelled' }])
  })

  test('can be saved and answered in another process, and what was pushed comes after', async () => {
    const first = await asked({ state: { step: 1 } })
    first.loop.push('By the way')
    const { loop, model, ends } = talk(script, [send], { saved: savedOf(first) })
    await settled()
    expect(loop).toMatchObject({
      threadId: first.loop.threadId,
      status: 'waiting',
      state: { step: 1 },
      messages: first.loop.messages,
      unhandled: [{ content: 'By the way' }],
    })
    loop.answer(answerTo(loop.openInterrupts[0], { approved: true }))
    await loop.idle()
    expect(ends()).toEqual(['success', 'success'])
    expect(heard(model.requests[1]).slice(-2)).toEqual(['assistant: It was "sent".', 'user: By the way'])
    expect(sent).toHaveLength(1)
  })

  test('and is cut off while it goes on with the answer does so again with the same answer', async () => {
    const begun = deferred()
    const done: string[] = []
    const slow = toolOf('slow', async ({ interrupt, signal }) => {
      await interrupt({ message: 'Go?' })
      begun.resolve()
      if (done.push('tried') === 1) await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return 'done'
    })
    const play: Script = ({ messages }) => (messages.at(-1)?.role === 'tool' ? 'Good.' : [call('c1', 'slow')])
    const first = talk(play, [slow])
    first.loop.push('Go.')
    await first.loop.idle()
    first.loop.answer(answerTo(first.loop.openInterrupts[0], true))
    await begun.promise
    await first.loop.stop({ at: 'now' })
    expect(first.ends()).toEqual(['interrupt', 'cancelled'])
    expect(first.loop.openInterrupts).toEqual([])
    const { loop, ends } = talk(play, [slow], { saved: savedOf(first) })
    await loop.idle()
    expect(ends()).toEqual(['success'])
    expect(loop.outcome).toMatchObject({ text: 'Good.' })
  })
})

describe("a turn that calls the client's tools", () => {
  const tools = ['ask', 'look'].map((name) => ({ name, description: 'The client does it.', parameters: {} }))
  const script: Script = ({ messages }, index) => {
    const last = messages.at(-1)
    if (index === 0) return [call('c1', 'ask'), call('c2', 'look')]
    return `After ${last?.role ?? 'nothing'}.`
  }
  const called = async () => {
    const talking = talk(script, [], { tools })
    talking.loop.push('Go.')
    await talking.loop.idle()
    return talking
  }

  test('waits for the results, all of them, and goes on', async () => {
    const { loop, model, ends } = await called()
    expect(loop).toMatchObject({ status: 'waiting', pendingToolCalls: [{ id: 'c1' }, { id: 'c2' }] })
    loop.push(resultOf('c2'))
    await settled()
    expect(loop).toMatchObject({ status: 'waiting', pendingToolCalls: [{ id: 'c1' }] })
    loop.push(resultOf('c1'))
    await loop.idle()
    expect(ends()).toEqual(['success', 'success'])
    expect(loop).toMatchObject({ status: 'idle', pendingToolCalls: [], outcome: { text: 'After tool.' } })
    expect(heard(model.requests[1])).toHaveLength(4)
  })

  test('keeps what is pushed meanwhile for the turn after it', async () => {
    const { loop, model, ends } = await called()
    loop.push('Hello?')
    loop.push([resultOf('c1'), resultOf('c2')])
    await loop.idle()
    expect(ends()).toEqual(['success', 'success', 'success'])
    expect(heard(model.requests[2]).slice(-2)).toEqual(['assistant: After tool.', 'user: Hello?'])
  })

  test('is given up for a message that preempts it; results that come late go behind their calls', async () => {
    const { loop, model, ends } = await called()
    loop.push('Never mind.', { mode: 'preempt' })
    await loop.idle()
    expect(heard(model.requests[1]).at(-1)).toBe('user: Never mind.')
    loop.push(resultOf('c1', 'late'))
    await loop.idle()
    expect(ends()).toEqual(['success', 'success', 'success'])
    expect(loop.messages.map(({ role }) => role)).toEqual([
      'user',
      'assistant',
      'tool',
      'user',
      'assistant',
      'assistant',
    ])
  })

  test('takes results before it is over, and second ones not at all', async () => {
    const rest = deferred()
    const { loop, ends } = talk(
      (_request, index) => (index === 0 ? [call('c1', 'ask'), { wait: rest.promise }, 'Wait.'] : 'Good.'),
      [],
      { tools },
    )
    loop.push('Go.')
    await settled()
    loop.push(resultOf('c1'))
    loop.push({ ...resultOf('c1', 'again'), id: 'r-again' })
    expect(loop.unhandled).toHaveLength(1)
    rest.resolve()
    await loop.idle()
    expect(ends()).toEqual(['success', 'success'])
    expect(loop.messages.filter(({ role }) => role === 'tool')).toMatchObject([{ content: 'done' }])
  })

  test('takes results together with the answer when it has also asked', async () => {
    const ask = toolOf('sure', async ({ interrupt }) => (await interrupt({ message: 'Sure?' })).status)
    const play: Script = (_request, index) =>
      index === 0 ? [call('c1', 'look'), call('c2', 'sure')] : 'Good.'
    const { loop, model, ends } = talk(play, [ask], { tools })
    loop.push('Go.')
    await loop.idle()
    loop.push(resultOf('c1', 'seen'))
    await settled()
    expect(loop).toMatchObject({ status: 'waiting', openInterrupts: [{ message: 'Sure?' }] })
    loop.answer(answerTo(loop.openInterrupts[0], true))
    await loop.idle()
    expect(ends()).toEqual(['interrupt', 'success'])
    expect(heard(model.requests[1]).slice(-2)).toEqual(['tool: seen', 'tool: resolved'])
    expect(loop).toMatchObject({ status: 'idle', unhandled: [] })
  })

  test("leaves out a result of the client for a call that was the agent's own", async () => {
    const begun = deferred()
    const done = deferred()
    const own = toolOf('own', async () => {
      begun.resolve()
      await done.promise
      return 'mine'
    })
    const { loop, ends } = talk([[call('c1', 'own')], 'Good.'], [own], { tools })
    loop.push('Go.')
    await begun.promise
    loop.push(resultOf('c1', 'yours'))
    done.resolve()
    await loop.idle()
    expect(ends()).toEqual(['success'])
    expect(loop.messages.filter(({ role }) => role === 'tool')).toMatchObject([{ content: 'mine' }])
    expect(loop.unhandled).toEqual([])
  })

  test('lets a call that the client has made itself, with its result, come after', async () => {
    const { loop, model, ends } = await called()
    const click: Message = {
      ...{ id: 'x1', role: 'assistant', content: '' },
      toolCalls: [{ id: 'k1', type: 'function', function: { name: 'log_click', arguments: '{}' } }],
    }
    loop.push(click)
    loop.push(resultOf('k1', 'clicked'))
    await settled()
    expect(ends()).toEqual(['success'])
    loop.push([resultOf('c1'), resultOf('c2')])
    await loop.idle()
    expect(ends()).toEqual(['success', 'success', 'success'])
    expect(heard(model.requests[1]).at(-1)).toBe('tool: done')
    expect(loop.messages.map(({ role }) => role).slice(-4)).toEqual([
      'assistant',
      'assistant',
      'tool',
      'assistant',
    ])
    expect(heard(model.requests[2]).at(-1)).toBe('tool: clicked')
  })

  test('refuses the result of a call that was never made', async () => {
    const { loop } = await called()
    expect(() => loop.push([resultOf('c1'), resultOf('c9')])).toThrow(
      expect.objectContaining({ code: 'NO_TOOL_RESULTS' }),
    )
    expect(loop.unhandled).toEqual([])
  })

  test('can be saved with the results there are, and goes on in another process', async () => {
    const first = await called()
    first.loop.push(resultOf('c1'))
    const { loop, ends } = talk(() => 'Good.', [], { tools, saved: savedOf(first) })
    expect(loop).toMatchObject({ status: 'waiting', pendingToolCalls: [{ id: 'c2' }] })
    loop.push(resultOf('c2'))
    await loop.idle()
    expect(ends()).toEqual(['success'])
    expect(loop.outcome).toMatchObject({ text: 'Good.' })
  })
})

describe('a saved loop', () => {
  test('runs at once what nobody has handled', async () => {
    const first = talk(['One.'])
    await first.loop.stop()
    const saved = { ...first.loop.save(), queue: [{ id: 'u1', role: 'user', content: 'Hi!' }] }
    const { loop, ends } = talk(['Hello.'], [], { saved })
    await loop.idle()
    expect(ends()).toEqual(['success'])
    expect(loop.messages.map(({ content }) => content)).toEqual(['Hi!', 'Hello.'])
  })

  test('that was saved in the midst of a turn runs it again, and loses nothing', async () => {
    const answer = deferred()
    const first = talk([['One', { wait: answer.promise }]])
    first.loop.push('Hi!')
    await settled()
    first.loop.push('Hello?')
    const saved = savedOf(first)
    answer.resolve()
    const { loop, model, ends } = talk(['Both.'], [], { saved })
    await loop.idle()
    expect(ends()).toEqual(['success'])
    expect(heard(model.requests[0])).toEqual(['user: Hi!', 'user: Hello?'])
  })

  test.each([
    ['nothing of the kind', 'x', 'its root'],
    ['damaged', { ...emptyLoop(), queue: [{ id: 1 }] }, 'queue.0'],
    ['of another version', { ...emptyLoop(), version: 2 }, 'version'],
  ])('that is %s is refused', (_what, saved, place) => {
    expect(() => talk([], [], { saved })).toThrow(`The saved turn loop is damaged at ${place}`)
  })

  test('that is not there is a new one', () => {
    expect(talk([], [], { saved: undefined }).loop.status).toBe('idle')
    expect(talk([], [], { saved: null, threadId: 't' }).loop.threadId).toBe('t')
  })

  test('cannot have a state that is not JSON', () => {
    const { loop } = talk([], [], { state: { when: new Date(0) } })
    expect(() => loop.save()).toThrow('state.when is a Date, not JSON.')
  })

  test('whose agents have changed can still be given something else to do', async () => {
    const ask = toolOf('ask', ({ interrupt }) => interrupt({ message: 'Well?' }))
    const first = talk([[call('c1', 'ask')]], [ask])
    first.loop.push('Go.')
    await first.loop.idle()
    const changed = defineAgent({ name: 'a', model: scriptedModel(['Fine.']) })
    const { loop, ends } = watchTurns(changed, { saved: savedOf(first) })
    loop.answer(answerTo(loop.openInterrupts[0], true))
    await loop.idle()
    expect(loop.status).toBe('waiting')
    loop.push('Then not.', { mode: 'preempt' })
    await loop.idle()
    expect(ends()).toEqual(['INVALID_CHECKPOINT', 'success'])
  })
})

function emptyLoop() {
  return talk([]).loop.save()
}
