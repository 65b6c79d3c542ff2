import { describe, expect, it, vi } from 'vitest'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { aborted, deferred, resultsIn } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

/** An agent whose first answer calls a tool that finishes when it is let go. */
async function serveSlow(options: Partial<ServeAgentsOptions> = {}) {
  const [begun, letGo] = [deferred(), deferred()]
  const slow = defineTool({
    name: 'slow',
    description: 'Takes its time.',
    async execute(_args, { signal }) {
      begun.resolve()
      await Promise.race([letGo.promise, aborted(signal)])
      return 'found'
    },
  })
  const model = scriptedModel((_, index) =>
    index === 0 ? ['Looking.', { toolCall: { id: 'c1', name: 'slow' } }] : `Answer ${index + 1}.`,
  )
  const agent = defineAgent({ name: 'talker', model, tools: [slow] })
  return {
    model,
    begun,
    letGo,
    served: await serveAgents({ agents: [agent], whenBusy: 'preempt', ...options }),
  }
}

describe.each(clientVersions)('a second run that preempts the first: $version', ({ version, Client }) => {
  const stopped =
    version === '1.0'
      ? { type: 'RUN_FINISHED', outcome: { type: 'cancelled' } }
      : { type: 'RUN_ERROR', code: 'abort' }

  it('waits for the tools at work, and goes on with their results', async () => {
    const { model, served, begun, letGo } = await serveSlow()
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('In Oslo?')
    await begun.promise
    const waiting = second.say('In Bergen!')
    // Its stream is open while it waits.
    await vi.waitFor(() => expect(second.streams).toHaveLength(1))
    letGo.resolve()
    const events = await running
    expect(events.at(-1)).toMatchObject(stopped)
    expect(resultsIn(events)).toEqual(['c1: found'])
    expect((await waiting).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(model.requests.slice(1).map(({ messages }) => linesOf(messages))).toEqual([
      ['user: In Oslo?', 'assistant: Looking. slow({})', 'tool: found', 'user: In Bergen!'],
    ])
  })

  it('has the thread when the first takes too long', async () => {
    const { model, served, begun } = await serveSlow({ limits: { preemptMs: 20 } })
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('In Oslo?')
    await begun.promise
    expect((await second.say('In Bergen!')).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect((await running).at(-1)).toMatchObject(stopped)
    expect(linesOf(model.requests[1]?.messages ?? []).at(-1)).toBe('user: In Bergen!')
  })

  it('comes after the first when that calls no tools', async () => {
    const [begun, letGo] = [deferred(), deferred()]
    const hold = () => {
      begun.resolve()
      return letGo.promise
    }
    const model = scriptedModel((_, index) => (index === 0 ? ['One', { wait: hold }, '.'] : 'Two.'))
    const agents = [defineAgent({ name: 'talker', model })] as const
    const served = await serveAgents({ agents, whenBusy: 'preempt' })
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('One?')
    await begun.promise
    const waiting = second.say('Two?')
    // Its stream is open while it waits.
    await vi.waitFor(() => expect(second.streams).toHaveLength(1))
    letGo.resolve()
    expect((await running).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect((await waiting).at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual([
      'user: One?',
      'assistant: One.',
      'user: Two?',
    ])
  })
})

describe.each(clientVersions)('a second message before the first is answered: $version', ({ Client }) => {
  it.each(['wait', 'preempt'] as const)('is added to what the first leads to (%s)', async (whenBusy) => {
    const { model, served, begun, letGo } = await serveSlow({ whenBusy })
    const [first, second] = [served.talk({ Client }), served.talk({ Client })]
    const running = first.say('In Oslo?')
    await begun.promise
    // The same person in another tab, which has the first message and nothing of the answer.
    second.client.setMessages(structuredClone(first.client.messages.slice(0, 1)))
    const waiting = second.say('Hurry!')
    await vi.waitFor(() => expect(second.streams).toHaveLength(1))
    letGo.resolve()
    expect(resultsIn(await running)).toEqual(['c1: found'])
    const events = await waiting
    expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED' })
    expect(events.filter(({ type }) => type === 'CUSTOM')).toEqual([])
    const lines = linesOf(model.requests.at(-1)?.messages ?? [])
    expect(lines.filter((line) => line.startsWith('tool:'))).toEqual(['tool: found'])
    expect(lines.at(0)).toBe('user: In Oslo?')
    expect(lines.at(-1)).toBe('user: Hurry!')
  })
})
