/**
 * Hooks on a run, from the request to the last byte: record, sanitise, filter ADK's events, translate some of them
 * differently, and change what clients see. `adk-lock` and `adk-plugins` have the hooks `lock` and `runtimeTimeout`.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { FunctionTool, LlmAgent, type Event } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer, type Hooks } from 'millrace/server'
import { z } from 'zod'

const charges = new FunctionTool({
  name: 'list_charges',
  description: 'Lists the charges of a card.',
  parameters: z.object({ card: z.string() }),
  execute: ({ card }) => ({ card, total: 120 }),
})
const clerk = new LlmAgent({
  name: 'clerk',
  model: process.env.GEMINI_API_KEY ? 'gemini-2.5-flash' : demoLlm(),
  instruction: 'List charges with the tool. Cards are given as "card-" and four digits.',
  tools: [charges],
  outputKey: 'lastAnswer',
})

const audit: string[] = []
const mask = (text: string): string => text.replace(/\d{4} \d{4} \d{4} (\d{4})/g, 'card-$1')

const hooks: Hooks = {
  inputRecord: ({ messages }, { key, runId }) =>
    void audit.push(`${key.user} starts ${runId} with ${messages.length} messages`),

  // Card numbers reach neither the model nor the history.
  inputChange: (input) => ({
    ...input,
    messages: input.messages.map((message) =>
      message.role === 'user' && typeof message.content === 'string'
        ? { ...message, content: mask(message.content) }
        : message,
    ),
  }),

  // An ADK event before translation. This one drops partial reasoning.
  runtimeEvent: (event: Event) => (event.partial && isThought(event) ? undefined : event),

  // The returned events replace all that the event would have become, changes of the state included.
  translate(event: Event) {
    const response = event.content?.parts?.[0]?.functionResponse
    if (response?.name !== 'list_charges') return undefined
    return [
      { type: 'CUSTOM', name: 'charges', value: response.response },
      {
        type: 'TOOL_CALL_RESULT',
        messageId: event.id,
        toolCallId: response.id ?? '',
        content: 'shown as a card',
      },
    ]
  },

  // AG-UI events of any agent.
  event: (event) => (event.type.startsWith('REASONING') ? undefined : event),
  stateSnapshot: (state) => ({ known: Object.keys(state as object) }),
  outputRecord: ({ type }) => void audit.push(type),
  outputChange: (event) => (event.type === 'RUN_FINISHED' ? { ...event, result: 'checked' } : event),
}

function isThought({ content }: Event): boolean {
  return content?.parts?.every(({ thought }) => thought === true) ?? false
}

const server = createServer({ agents: [fromAdk(clerk)], hooks })
const serving = await serve(server, { port: 0 })

const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })
client.addMessage({ id: 'u1', role: 'user', content: 'List the charges of "4111 1111 1111 1234".' })
const shown: unknown[] = []
const finished = await client.runAgent(
  { runId: 'run-1' },
  { onCustomEvent: ({ event }) => void shown.push([event.name, event.value]) },
)
console.log('audit:', audit.join(' '))
assert.deepEqual(shown, [['charges', { card: 'card-1234', total: 120 }]])
const history = await (await fetch(`${serving.url}/message_snapshot/thread-1`)).text()
assert.ok(!history.includes('4111'), 'the number is in no history')
assert.equal(client.messages.find(({ role }) => role === 'tool')?.content, 'shown as a card')
assert.deepEqual(client.state, { known: ['lastAnswer'] })
assert.equal(finished.result, 'checked')
assert.equal(audit[0], 'local starts run-1 with 1 messages')
assert.deepEqual([audit[1], audit.at(-1)], ['RUN_STARTED', 'RUN_FINISHED'])
assert.ok(!audit.some((type) => type.startsWith('REASONING')), 'thoughts stay here')
await serving.close()
