import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { fromAgUi } from '../../src/remote/index.js'
import { createClient, ofType } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents } from '../support/serve-agents.js'
import { handWritten, ScriptedAgUi, servedRemote, text, whole } from './support-remote.js'

const tools = ['colour', 'sound'].map((name) => ({
  name,
  description: `Changes the ${name}.`,
  parameters: { type: 'object', properties: { to: { type: 'string' } } },
}))

const call = (name: string, to: string) => ({ toolCall: { name, args: { to } } })
const user = (content: string) => ({ id: crypto.randomUUID(), role: 'user' as const, content })
const result = (toolCallId: string, content: string) => ({
  id: crypto.randomUUID(),
  role: 'tool' as const,
  toolCallId,
  content,
})

describe.each(clientVersions)('tools of the client, behind the HttpAgent $version', ({ Client }) => {
  it('are called over there and answered here, under their ids', async () => {
    const model = scriptedModel([[call('colour', 'red'), call('sound', 'loud')], 'Red and loud.'])
    const remote = await servedRemote({ agents: [defineAgent({ name: 'painter', model })] }, Client)
    const client = createClient(remote.agent(), tools)
    const { outcome } = await client.say('Red and loud.')
    if (outcome.type !== 'completed') throw new Error(outcome.type)
    expect(outcome.pendingToolCalls.map(({ id }) => id)).toEqual(['call-1', 'call-2'])

    const results = [result('call-1', 'red now'), result('call-2', 'loud now')]
    const next = await client.send({ messages: [...client.messages, ...results] })
    expect(next.outcome).toMatchObject({ type: 'completed', text: 'Red and loud.', pendingToolCalls: [] })
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual([
      'user: Red and loud.',
      'assistant: colour({"to":"red"}) sound({"to":"loud"})',
      'tool: red now',
      'tool: loud now',
    ])
  })

  it('go through two servers, with clients of both generations in front', async () => {
    for (const { Client: Front } of clientVersions) {
      const model = scriptedModel([[call('colour', 'red')], 'It is red.'])
      const remote = await servedRemote({ agents: [defineAgent({ name: 'painter', model })] }, Client)
      const front = await serveAgents({ agents: [remote.agent()] })
      const talk = front.talk({ Client: Front })
      await talk.say('Red.', { tools })
      await talk.answer({ 'call-1': 'red now' }, { tools })
      expect(linesOf(talk.client.messages)).toEqual([
        'user: Red.',
        'assistant: colour({"to":"red"})',
        'tool: red now',
        'assistant: It is red.',
      ])
    }
  })

  it('can be called by a child, when the one above hands over its calls', async () => {
    const model = scriptedModel([[call('colour', 'red')], 'It is red.'])
    const remote = await servedRemote({ agents: [defineAgent({ name: 'painter', model })] }, Client)
    const root = handWritten('root', (ctx) => ctx.delegate(remote.agent(), { segment: 'paint' }))
    const client = createClient(root, tools)
    const { outcome } = await client.say('Red.')
    expect(outcome).toMatchObject({ type: 'completed', pendingToolCalls: [{ id: 'call-1' }] })
    const next = await client.send({ messages: [...client.messages, result('call-1', 'red now')] })
    expect(next.outcome).toMatchObject({ type: 'completed', text: 'It is red.' })
    expect(new Set(remote.streams.map(({ input }) => input.threadId)).size).toBe(1)
  })
})

it('calls without a result are left to the client, also when the agent does not say so', async () => {
  const made = (toolCallId: string, toolCallName: string) => [
    { type: 'TOOL_CALL_START', toolCallId, toolCallName },
    { type: 'TOOL_CALL_ARGS', toolCallId, delta: '{}' },
    { type: 'TOOL_CALL_END', toolCallId },
  ]
  const remote = new ScriptedAgUi((_, index) =>
    index > 0
      ? whole(...text('m1', 'Done.'))
      : whole(
          ...made('c1', 'look_up'),
          { type: 'TOOL_CALL_RESULT', messageId: 'r1', toolCallId: 'c1', content: 'found' },
          ...made('c2', 'colour'),
        ),
  )
  const client = createClient(fromAgUi(remote, { name: 'remote' }), tools)
  const { outcome, events } = await client.send({ messages: [user('Look it up.')] })
  expect(outcome).toMatchObject({ type: 'completed', pendingToolCalls: [{ id: 'c2' }] })
  expect(ofType(events, 'RUN_FINISHED')[0]?.outcome).toEqual({ type: 'success', pendingToolCallIds: ['c2'] })
  await client.send({ messages: [...client.messages, result('c2', 'red')] })
  expect(remote.inputs[1]?.messages.at(-1)).toMatchObject({ role: 'tool', toolCallId: 'c2', content: 'red' })
})
