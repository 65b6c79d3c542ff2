import { describe, expect, it } from 'vitest'
import { agentTool, defineAgent, defineTool, type Agent, type ToolContext } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

const identify: ServeAgentsOptions['identify'] = (request) => ({
  app: 'shop',
  user: request.headers.get('x-user') ?? 'nobody',
  claims: { role: 'guest' },
})

describe('a tool', () => {
  const seen: unknown[] = []

  /** Says who asks, once before and once after a person has answered. */
  const whoAsks = defineTool({
    name: 'who_asks',
    description: 'Says who asks.',
    async execute(_, { app, user, claims, threadId, client, interrupt }: ToolContext) {
      seen.push([app, user, claims, threadId, client.context, client.forwardedProps])
      await interrupt({ message: 'May I?' })
      return `${user} asks`
    },
  })

  function asker(): Agent {
    const model = scriptedModel([[{ toolCall: { name: 'who_asks' } }], 'Done.'])
    return defineAgent({ name: 'asker', description: 'Asks.', model, tools: [whoAsks] })
  }

  function boss(): Agent {
    const model = scriptedModel([[{ toolCall: { name: 'asker', args: { request: 'Ask.' } } }], 'All done.'])
    return defineAgent({ name: 'boss', model, tools: [agentTool(asker())] })
  }

  it.each([
    ['of an agent', asker],
    ['of an agent behind a tool call', boss],
  ])('%s sees who asks and what came with the run', async (_, make) => {
    seen.length = 0
    const served = await serveAgents({ agents: [make()], identify })
    const talk = served.talk({ threadId: 'trip', headers: { 'x-user': 'ann' } })
    const context = [{ description: 'page', value: 'checkout' }]
    const sent = { context, forwardedProps: { tenant: 'north' } }
    const asked = (await talk.say('Who am I?', sent)).at(-1)
    expect(asked).toMatchObject({ outcome: { interrupts: [{ message: 'May I?' }] } })
    const [interrupt] = talk.client.pendingInterrupts
    const resume = [{ interruptId: interrupt?.id ?? '', status: 'resolved' as const, payload: 'yes' }]
    expect((await talk.send({ ...sent, resume })).at(-1)).toMatchObject({ outcome: { type: 'success' } })
    const person = ['shop', 'ann', { role: 'guest' }, 'trip', context, { tenant: 'north' }]
    expect(seen).toEqual([person, person])
  })
})
