import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { agentTool, defineAgent, defineTool, run, type CheckpointStore } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import {
  createDowngrade,
  createSseEncoder,
  parseRunInput,
  sseHeaders,
  type AgUiEvent,
} from '../../src/protocol/index.js'
import { lintEndpoint } from '../../src/testing/index.js'
import { bodyOf, serve } from './loopback.js'

/** The straight line through all rooms: request, input, agent, run stream, wire, client. No server room yet. */
function servingAgents(makeAgent: () => Parameters<typeof run>[0]) {
  const saved = new Map<string, string>()
  const checkpoints: CheckpointStore = {
    load: (threadId) => Promise.resolve(JSON.parse(saved.get(threadId) ?? 'null') as unknown),
    save: (threadId, checkpoint) => {
      saved.set(threadId, JSON.stringify(checkpoint))
      return Promise.resolve()
    },
  }
  return (request: IncomingMessage, response: ServerResponse): void => {
    void (async () => {
      const { input, peer } = parseRunInput(JSON.parse(await bodyOf(request)))
      response.writeHead(200, sseHeaders)
      const encode = createSseEncoder(input.runId)
      const downgrade = peer.legacy ? createDowngrade() : (event: AgUiEvent) => [event]
      let seq = 0
      for await (const event of run(makeAgent(), input, { checkpoints })) {
        for (const sent of downgrade(event)) response.write(encode(sent, seq++))
      }
      response.end()
    })()
  }
}

const sendMail = defineTool({
  name: 'send_mail',
  description: 'Sends a mail.',
  input: z.object({ to: z.string() }),
  async execute({ to }, ctx) {
    const answer = await ctx.interrupt({
      message: `Mail ${to}?`,
      responseSchema: z.object({ approved: z.boolean() }),
    })
    return answer.status === 'resolved' && answer.payload.approved ? `sent to ${to}` : 'not sent'
  },
})

/** The scripted models go on where they were: the agents are made anew for each request, as after a restart. */
function team() {
  const mailer = scriptedModel([[{ toolCall: { name: 'send_mail', args: { to: 'bob' } } }], 'Mail is out.'])
  const boss = scriptedModel([
    [
      { reasoning: 'The mailer can do that.' },
      { toolCall: { name: 'mailer', args: { request: 'Mail Bob.' } } },
    ],
    'Done: Bob has his mail.',
  ])
  const make = () => {
    const worker = defineAgent({
      name: 'mailer',
      description: 'Sends mails.',
      model: mailer,
      tools: [sendMail],
    })
    return defineAgent({ name: 'boss', model: boss, tools: [agentTool(worker)] })
  }
  return make
}

for (const [version, Client] of [
  ['1.0', HttpAgent],
  ['0.0.59', OldHttpAgent],
] as const) {
  it(`serves an approval inside a subagent to the real client ${version}`, async () => {
    const url = await serve(servingAgents(team()))
    const client = new Client({ url, threadId: 'thread-1' })
    client.addMessage({ id: 'u1', role: 'user', content: 'Mail Bob, please.' })
    await client.runAgent({ runId: 'run-1' })
    const [question] = client.pendingInterrupts
    expect(question).toMatchObject({ message: 'Mail bob?', reason: 'tool_call' })

    const resume = [
      { interruptId: question?.id ?? '', status: 'resolved' as const, payload: { approved: true } },
    ]
    await client.runAgent({ runId: 'run-2', resume })
    expect(client.pendingInterrupts).toEqual([])
    const said = client.messages.map((message) => `${message.role}: ${JSON.stringify(message.content ?? '')}`)
    expect(said).toContain('tool: "sent to bob"')
    expect(said.at(-1)).toBe('assistant: "Done: Bob has his mail."')
    expect(said.filter((line) => line.includes('sent to bob'))).toHaveLength(1)
  })
}

it('is clean by the linter, transport included', async () => {
  const url = await serve(servingAgents(team()))
  const input = {
    threadId: 'thread-1',
    runId: 'run-1',
    protocolVersion: '1.0',
    messages: [{ id: 'u1', role: 'user', content: 'Mail Bob, please.' }],
    tools: [],
    context: [],
  }
  const { violations, events } = await lintEndpoint(url, input)
  expect(violations).toEqual([])
  expect(events.at(-1)).toMatchObject({ outcome: { type: 'interrupt' } })
})
