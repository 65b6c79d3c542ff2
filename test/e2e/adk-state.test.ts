import { createEvent, FunctionTool, LlmAgent, type Context, type Event } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import type { AgentEvent, AgUiEvent } from '../../src/protocol/index.js'
import type { Hooks } from '../../src/server/hooks/hooks.js'
import { callsTool, says, ScriptedLlm, type LlmStep } from '../support/adk/scripted-llm.js'
import { serveAdk, stateOf, textIn } from '../support/adk/serve-adk.js'
import { resultsIn } from '../support/run-agent.js'

interface Rig {
  readonly execute: (context: Context) => unknown
  readonly steps?: readonly LlmStep[]
  readonly hooks?: Hooks
}

async function serveWriter({ execute, steps, hooks = {} }: Rig) {
  const write = new FunctionTool({
    ...{ name: 'write', description: 'Writes.', parameters: z.object({}) },
    execute: (_, context) => {
      if (!context) throw new Error('There is no context.')
      return execute(context)
    },
  })
  const llm = new ScriptedLlm(steps ?? [callsTool({ name: 'write' }), says('Done.'), says('Again.')])
  const agent = fromAdk(new LlmAgent({ name: 'writer', model: llm, tools: [write] }))
  return { llm, served: await serveAdk({ make: () => agent, hooks }) }
}

/** Changes of the state, and results. The snapshot at the end is left out. */
const kinds = (events: readonly AgUiEvent[]) =>
  events.flatMap(({ type }) => (/^(STATE_DELTA|TOOL_CALL_RESULT)/.test(type) ? [type] : []))

describe('the client sees what a tool does to the state while the tool runs', () => {
  it('each change as it happens', async () => {
    const { served } = await serveWriter({
      async execute({ state }) {
        state.set('progress', 1)
        await Promise.resolve()
        state.update({ progress: 2, page: 'two' })
        expect([state.get('progress'), state.has('page')]).toEqual([2, true])
        return 'ok'
      },
    })
    const talk = served.talk()
    const events = await talk.say('Go')
    expect(kinds(events)).toEqual(['STATE_DELTA', 'STATE_DELTA', 'TOOL_CALL_RESULT'])
    expect(talk.client.state).toEqual({ progress: 2, page: 'two' })
    expect(await stateOf(served)).toEqual({ progress: 2, page: 'two' })
    await talk.say('And?')
    expect(await stateOf(served)).toEqual({ progress: 2, page: 'two' })
  })

  it('and nothing that is the server’s own', async () => {
    const { served } = await serveWriter({ execute: ({ state }) => state.set('temp:secret', 1) })
    expect(JSON.stringify(await served.talk().say('Go'))).not.toContain('secret')
  })

  it('by an event of its own, with or without text', async () => {
    const { served } = await serveWriter({
      execute({ invocationContext: { eventQueue } }) {
        const actions = { stateDelta: { done: 0.5 } }
        eventQueue?.push(createEvent({ author: 'writer', partial: true, actions }))
        return 'ok'
      },
    })
    const talk = served.talk()
    expect(kinds(await talk.say('Go'))).toEqual(['STATE_DELTA', 'TOOL_CALL_RESULT'])
    expect(await stateOf(served)).toEqual({ done: 0.5 })
  })
})

describe('a value that is not JSON', () => {
  it('does not fail the run, in the state as little as in a result: it arrives as JSON has it', async () => {
    const when = new Date(0)
    const odd = { when, part: NaN, big: 1n, map: new Map([['a', 1]]) }
    const { served } = await serveWriter({
      execute({ state }) {
        state.set('odd', odd)
        return odd
      },
    })
    const talk = served.talk()
    const events = await talk.say('Go')
    const plain = { when: '1970-01-01T00:00:00.000Z', part: null, big: '1', map: { a: 1 } }
    expect(textIn(events)).toBe('Done.')
    expect(resultsIn(events)).toEqual([expect.stringContaining(JSON.stringify(plain))])
    expect(talk.client.state).toEqual({ odd: plain })
    expect(textIn(await talk.say('And?'))).toBe('Again.')
    expect(await stateOf(served)).toEqual({ odd: plain })
  })

  it('fails the tool, not the run, when JSON cannot have it', async () => {
    const circle: Record<string, unknown> = {}
    circle.self = circle
    const tools = {
      state: ({ state }: Context) => state.set('odd', circle),
      result: () => circle,
    }
    for (const execute of Object.values(tools)) {
      const { served } = await serveWriter({ execute })
      const events = await served.talk().say('Go')
      expect(resultsIn(events)).toEqual([expect.stringContaining('contains itself')])
      expect(textIn(events)).toBe('Done.')
    }
  })
})

describe('the hook `translate`', () => {
  const isResult = (event: Event): boolean =>
    event.content?.parts?.some(({ functionResponse }) => functionResponse) === true
  const result = (event: Event): AgentEvent => ({
    type: 'TOOL_CALL_RESULT',
    messageId: event.id,
    toolCallId: event.content?.parts?.[0]?.functionResponse?.id ?? '',
    content: 'hidden',
  })
  const translateAll =
    (state: readonly AgentEvent[]) =>
    (given: unknown): readonly AgentEvent[] | undefined => {
      const event = given as Event
      if (isResult(event)) return [...state, result(event)]
      return Object.keys(event.actions.stateDelta).length > 0 ? [] : undefined
    }

  it('replaces the state change of an event too', async () => {
    const { served } = await serveWriter({
      execute: ({ state }) => state.set('seen', 'by nobody'),
      hooks: { translate: translateAll([]) },
    })
    const talk = served.talk()
    expect(kinds(await talk.say('Go'))).toEqual(['TOOL_CALL_RESULT'])
    expect(await stateOf(served)).toEqual({})
  })

  it('by a change of its own, which the changes after it leave alone', async () => {
    const own: AgentEvent = { type: 'STATE_DELTA', delta: [{ op: 'add', path: '/own', value: 1 }] }
    let hasOwn = false
    const { served } = await serveWriter({
      steps: [callsTool({ name: 'write' }), callsTool({ name: 'write' }), says('Done.'), says('Again.')],
      execute: ({ state }) => state.set('count', Number(state.get('count') ?? 0) + 1),
      hooks: {
        translate(given) {
          if (hasOwn || !isResult(given as Event)) return undefined
          hasOwn = true
          return [own, result(given as Event)]
        },
      },
    })
    const talk = served.talk()
    await talk.say('Go')
    expect(await stateOf(served)).toEqual({ count: 2, own: 1 })
    expect(talk.client.state).toEqual({ count: 2, own: 1 })
    await talk.say('Again')
    expect(await stateOf(served)).toEqual({ count: 2, own: 1 })
  })
})
