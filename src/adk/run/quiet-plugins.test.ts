import { BasePlugin, LlmAgent, type Event, type LlmResponse } from '@google/adk'
import { inspect } from 'node:util'
import { describe, expect, it } from 'vitest'
import { says, ScriptedLlm, whole } from '../../../test/support/adk/scripted-llm.js'
import { createClient } from '../../../test/support/run-agent.js'
import { fromAdk } from '../from-adk.js'

/** A plugin that listens to what a test gives it. */
function plugin(name: string, members: Partial<BasePlugin>): BasePlugin {
  return Object.assign(new (class extends BasePlugin {})(name), members)
}

function serve(plugins: readonly BasePlugin[]) {
  const model = new ScriptedLlm([says('one ', 'two')])
  return createClient(fromAdk(new LlmAgent({ name: 'helper', model }), { plugins }))
}

describe('plugins of the team', () => {
  it('hear of every event and every piece of an answer', async () => {
    const heard: Event[] = []
    const pieces: LlmResponse[] = []
    const onEvents = plugin('events', {
      onEventCallback: ({ event }) => (heard.push(event), Promise.resolve(undefined)),
    })
    const onModel = plugin('model', {
      afterModelCallback: ({ llmResponse }) => (pieces.push(llmResponse), Promise.resolve(undefined)),
    })
    await serve([onEvents, onModel]).say('Hi')
    expect(heard).toHaveLength(3)
    expect(pieces).toHaveLength(3)
  })

  it('may change what they hear of', async () => {
    const changing = plugin('changing', {
      afterModelCallback: ({ llmResponse }) =>
        Promise.resolve(llmResponse.partial ? undefined : whole([{ text: 'one two three' }])),
    })
    const { outcome } = await serve([changing]).say('Hi')
    expect(outcome).toMatchObject({ type: 'completed', text: 'one two three' })
  })

  it.each(['onEventCallback', 'afterModelCallback'] as const)('are named when %s fails', async (callback) => {
    const failing = plugin('the-bad-one', { [callback]: () => Promise.reject(new Error('kaput')) })
    const { outcome } = await serve([failing]).say('Hi')
    expect(outcome.type).toBe('failed')
    expect(inspect(outcome)).toContain('the-bad-one')
  })

  it('must have names of their own', async () => {
    expect(() => serve([plugin('same', {}), plugin('same', {})])).toThrow("Two plugins are named 'same'")
    const { outcome } = await serve([plugin('millrace', {})]).say('Hi')
    expect(outcome.type).toBe('failed')
  })
})
