import { createEvent, FunctionTool, LlmAgent, type Event } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { manualClock } from '../../src/core/clock.js'
import type { Hooks } from '../../src/server/hooks/hooks.js'
import { requestLines, historyOf, serveAdk, textIn, type ServeAdkOptions } from '../support/adk/serve-adk.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { deferred, ofType } from '../support/run-agent.js'
import { linesOf } from '../support/serve-agents.js'

const look = new FunctionTool({
  name: 'look',
  description: 'Looks.',
  parameters: z.object({}),
  execute: () => ({ found: 'x' }),
})

async function serveHooked(steps: readonly LlmStep[], hooks: Hooks, options: Partial<ServeAdkOptions> = {}) {
  const llm = new ScriptedLlm(steps)
  const make = () => fromAdk(new LlmAgent({ name: 'helper', model: llm, tools: [look] }))
  return { llm, served: await serveAdk({ make, hooks, ...options }) }
}

const textOf = ({ content }: Event): string => content?.parts?.map(({ text = '' }) => text).join('') ?? ''

describe('runtimeEvent', () => {
  it('gets the events of ADK itself, of every kind, in order', async () => {
    const seen: string[] = []
    const { served } = await serveHooked([callsTool({ name: 'look' }), says('A', 'B')], {
      runtimeEvent(given, { key, runId }) {
        const event = given as Event
        const [part] = event.content?.parts ?? []
        const kind = part?.functionCall ? 'call' : part?.functionResponse ? 'result' : textOf(event)
        seen.push(`${event.author} ${event.partial === true ? 'piece' : 'whole'} ${kind}`)
        expect([key.thread, typeof runId]).toEqual(['thread-1', 'string'])
        return given
      },
    })
    expect(textIn(await served.talk().say('Go'))).toBe('AB')
    expect(seen).toEqual([
      'helper whole call',
      'helper whole result',
      'helper piece A',
      'helper piece B',
      'helper whole AB',
    ])
  })

  it('filters, replaces and expands, and the session keeps what ADK has', async () => {
    const { llm, served } = await serveHooked([says('one ', 'two ', 'three'), says('ok')], {
      runtimeEvent(given) {
        const event = given as Event
        const text = textOf(event)
        const saying = (words: string): Event =>
          createEvent({ ...event, content: { role: 'model', parts: [{ text: words }] } })
        if (event.partial !== true) return undefined
        if (text === 'two ') return saying('2 ')
        return text === 'three' ? [saying('thr'), saying('ee')] : event
      },
    })
    const talk = served.talk()
    const events = await talk.say('Go')
    expect(ofType(events, 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual([
      'one ',
      '2 ',
      'thr',
      'ee',
    ])
    expect(linesOf(await historyOf(served))).toEqual(['user: Go', 'assistant: one 2 three'])
    await talk.say('Again')
    expect(requestLines(llm.calls[1])[1]).toBe('model: one two three')
  })

  it('may hide calls from clients: the conversation goes on, and nothing runs twice', async () => {
    const { llm, served } = await serveHooked([callsTool({ name: 'look' }), says('Found.'), says('ok')], {
      runtimeEvent(given) {
        const parts = (given as Event).content?.parts ?? []
        return parts.some(({ functionCall, functionResponse }) => functionCall ?? functionResponse)
          ? undefined
          : given
      },
    })
    const talk = served.talk()
    await talk.say('Go')
    expect(linesOf(await historyOf(served))).toEqual(['user: Go', 'assistant: Found.'])
    await talk.say('Again')
    const lines = requestLines(llm.calls[2])
    expect([lines[0], ...lines.slice(-2)]).toEqual(['user: Go', 'model: Found.', 'user: Again'])
  })

  it('may be async, and its failure is the run’s', async () => {
    const { served } = await serveHooked([says('A'), says('fine')], {
      async runtimeEvent(event) {
        await Promise.resolve()
        if (textOf(event as Event) === 'A') throw new Error('hook-secret')
        return event
      },
    })
    const talk = served.talk()
    const events = await talk.say('Go').catch(() => talk.streams[0]?.events ?? [])
    expect(ofType(events, 'RUN_ERROR')).toMatchObject([{ code: 'HOOK_ERROR' }])
    expect(JSON.stringify(events)).not.toContain('hook-secret')
    expect(textIn(await talk.say('Again'))).toBe('fine')
  })
})

describe('translate', () => {
  it('stands in for the translation where it gives one', async () => {
    const { served } = await serveHooked([callsTool({ name: 'look' }), says('A', 'B')], {
      translate(given) {
        const event = given as Event
        if (event.content?.parts?.some(({ functionResponse }) => functionResponse))
          return [{ type: 'CUSTOM', name: 'looked', value: 1 }, ...resultOf(event)]
        if (textOf(event) === 'B' && event.partial === true) return []
        return undefined
      },
    })
    const events = await served.talk().say('Go')
    expect(ofType(events, 'CUSTOM')).toMatchObject([{ name: 'looked' }])
    expect(ofType(events, 'TOOL_CALL_RESULT')).toMatchObject([{ content: 'hidden' }])
    // The whole says what no piece has said.
    expect(textIn(events)).toBe('AB')
  })

  function resultOf({ content }: Event) {
    return (content?.parts ?? []).flatMap(({ functionResponse }) =>
      functionResponse?.id === undefined
        ? []
        : [
            {
              type: 'TOOL_CALL_RESULT' as const,
              messageId: `own-${functionResponse.id}`,
              toolCallId: functionResponse.id,
              content: 'hidden',
            },
          ],
    )
  }
})

it('hooks are called in their order', async () => {
  const order: string[] = []
  const note = (name: string): void => {
    if (order.at(-1) !== name) order.push(name)
  }
  const { served } = await serveHooked([says('A')], {
    inputRecord: () => note('inputRecord'),
    lock: () => {
      note('lock')
      return () => note('unlock')
    },
    inputChange: (input) => {
      note('inputChange')
      return input
    },
    runtimeEvent: (event) => {
      note('runtimeEvent')
      return event
    },
    translate: () => {
      note('translate')
      return undefined
    },
    event: (event) => {
      note('event')
      return event
    },
    stateSnapshot: (state) => {
      note('stateSnapshot')
      return state
    },
    outputRecord: () => note('outputRecord'),
    outputChange: (event) => {
      note('outputChange')
      return event
    },
  })
  await served.talk().say('Go')
  const out = ['outputRecord', 'outputChange']
  const first = order.indexOf('runtimeEvent')
  expect(order.slice(0, first)).toEqual(['inputRecord', 'lock', 'inputChange', ...out])
  expect(order.slice(first, first + 3)).toEqual(['runtimeEvent', 'translate', 'event'])
  expect(order.at(-1)).toBe('unlock')
  expect(order).toContain('stateSnapshot')
})

it('event has a hand in what is translated, and in the history', async () => {
  const { served } = await serveHooked([says('A', 'B')], {
    event: (event) =>
      event.type === 'TEXT_MESSAGE_CHUNK' ? { ...event, delta: event.delta?.toLowerCase() ?? '' } : event,
  })
  expect(textIn(await served.talk().say('Go'))).toBe('ab')
  expect(linesOf(await historyOf(served))).toEqual(['user: Go', 'assistant: ab'])
})

it('a model that takes too long is stopped, and the hook says something in its place', async () => {
  const clock = manualClock()
  const asking = deferred()
  let isStopped = false
  const { served } = await serveHooked(
    [
      async function* (_, signal) {
        yield* says('Hm ').slice(0, 1)
        asking.resolve()
        await new Promise((resolve) => signal?.addEventListener('abort', resolve))
        isStopped = true
      },
      says('Fast.'),
    ],
    {
      runtimeTimeout: () => [
        { type: 'TEXT_MESSAGE_CHUNK', messageId: 'late', role: 'assistant', delta: 'Sorry.' },
      ],
    },
    { clock, limits: { runTimeoutMs: 1000 } },
  )
  const talk = served.talk()
  const running = talk.say('Go')
  await asking.promise
  await clock.advance(1000)
  const events = await running
  expect(textIn(events)).toBe('Hm Sorry.')
  expect(events.at(-1)?.type).toBe('RUN_FINISHED')
  expect(isStopped).toBe(true)
  expect(textIn(await talk.say('Again'))).toBe('Fast.')
})
