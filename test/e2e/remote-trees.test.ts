import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool, parallel, sequential } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createClient, interruptsOf, ofType } from '../support/run-agent.js'
import { clientVersions, linesOf } from '../support/serve-agents.js'
import { servedRemote } from './support-remote.js'

const sign = defineTool({
  name: 'sign',
  description: 'Signs.',
  input: z.object({}),
  async execute(_, ctx) {
    const answer = await ctx.interrupt({ message: 'Sign?' })
    return answer.status === 'resolved' ? `signed by ${answer.payload as string}` : 'not signed'
  },
})

describe.each(clientVersions)('in a tree, behind the HttpAgent $version', ({ Client }) => {
  it('one agent works in two places at once, asks in both, and keeps them apart', async () => {
    // Each place is a thread of its own over there: it asks, then tells what it was answered.
    const model = scriptedModel(({ messages }) => {
      const result = messages.findLast(({ role }) => role === 'tool')
      return result ? `I have it ${result.content as string}.` : [{ toolCall: { name: 'sign', args: {} } }]
    })
    const clerk = defineAgent({ name: 'clerk', model, tools: [sign] })
    const remote = await servedRemote({ agents: [clerk] }, Client)
    const desks = parallel({
      name: 'desks',
      agents: [remote.agent({ name: 'left' }), remote.agent({ name: 'right' })],
    })
    const client = createClient(desks)
    const asked = await client.say('Sign both.')
    const [left, right] = interruptsOf(asked)
    const spans = ofType(asked.events, 'SUBAGENT_STARTED')
    const nameOf = (id: string | undefined) => spans.find((span) => span.subagentRunId === id)?.name
    expect([left, right].map((question) => nameOf(question?.subagentRunId)).toSorted()).toEqual([
      'left',
      'right',
    ])
    expect(new Set(remote.streams.map(({ input }) => input.threadId)).size).toBe(2)

    // One after the other: the second waits, and is not run meanwhile.
    const half = await client.answer({ [left?.id ?? '']: 'Ada' })
    expect(interruptsOf(half).map(({ id }) => id)).toEqual([right?.id])
    const { outcome } = await client.answer({ [right?.id ?? '']: 'Bob' })
    expect(outcome.type).toBe('completed')
    expect(remote.streams).toHaveLength(4)
    const texts = linesOf(client.messages).filter((line) => line.startsWith('assistant: I have'))
    expect(texts.toSorted()).toEqual([
      'assistant: I have it signed by Ada.',
      'assistant: I have it signed by Bob.',
    ])
  })

  it('it hears what the others said, and knows its own words in the next turn', async () => {
    const model = scriptedModel(['First review.', 'Second review.'])
    const remote = await servedRemote({ agents: [defineAgent({ name: 'reviewer', model })] }, Client)
    const writer = defineAgent({ name: 'writer', model: scriptedModel(['First draft.', 'Second draft.']) })
    const client = createClient(sequential({ name: 'press', agents: [writer, remote.agent()] }))
    await client.say('Write.')
    await client.say('Again.')
    expect(linesOf(model.requests[1]?.messages ?? [])).toEqual([
      'user: Write.',
      'user: For context: [writer] said: First draft.',
      'assistant: First review.',
      'user: Again.',
      'user: For context: [writer] said: Second draft.',
    ])
    expect(new Set(remote.streams.map(({ input }) => input.threadId)).size).toBe(1)
    expect(linesOf(client.messages).at(-1)).toBe('assistant: Second review.')
  })
})
