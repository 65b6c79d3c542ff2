import { InMemorySessionService, LlmAgent } from '@google/adk'
import { expect, it } from 'vitest'
import { says, ScriptedLlm } from '../../test/support/adk/scripted-llm.js'
import { createClient, ofType } from '../../test/support/run-agent.js'
import { agentTool, defineAgent } from '../agents/index.js'
import { scriptedModel } from '../models/index.js'
import { fromAdk } from './from-adk.js'

it('an agent of ADK is a tool of a kit agent, with a conversation of its own for each call', async () => {
  const llm = new ScriptedLlm([says('Oslo is in ', 'Norway.'), says('Rome is in Italy.')])
  const sessionService = new InMemorySessionService()
  const expert = fromAdk(new LlmAgent({ name: 'expert', description: 'Knows places.', model: llm }), {
    sessionService,
  })
  const ask = (id: string, request: string) => ({ toolCall: { id, name: 'expert', args: { request } } })
  const model = scriptedModel([[ask('c1', 'Where is Oslo?')], [ask('c2', 'Where is Rome?')], 'Now you know.'])
  const client = createClient(defineAgent({ name: 'chat', model, tools: [agentTool(expert)] }))
  const { events, outcome } = await client.say('Oslo and Rome?')
  expect(outcome).toMatchObject({ type: 'completed', text: 'Now you know.' })
  expect(ofType(events, 'SUBAGENT_STARTED').map(({ name }) => name)).toEqual(['expert', 'expert'])
  expect(ofType(events, 'TOOL_CALL_RESULT').map(({ content }) => content)).toEqual([
    'Oslo is in Norway.',
    'Rome is in Italy.',
  ])
  expect(llm.calls).toMatchObject([
    [{ parts: [{ text: 'Where is Oslo?' }] }],
    [{ parts: [{ text: 'Where is Rome?' }] }],
  ])
  const { sessions } = await sessionService.listSessions({ appName: 'expert', userId: 'local' })
  expect(sessions).toEqual([])
})
