/** A Millrace agent as an agent of `@ag-ui/client`, in this process: for the runtime of CopilotKit, for example. */
import assert from 'node:assert/strict'
import type { AbstractAgent } from '@ag-ui/client'
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { toAgUi } from 'millrace/remote'

const concierge = defineAgent({
  name: 'concierge',
  instructions: 'Help guests.',
  model: await modelFromEnv(),
})

// Registered once: `new CopilotRuntime({ agents: { concierge: registered } })`. Its browsers have a client from before
// 1.0.
const registered = toAgUi(concierge, { clients: '0.0.59' })

// The runtime does this for every request.
const agent = registered.clone() as AbstractAgent
agent.threadId = 'thread-1'
agent.setMessages([{ id: 'u1', role: 'user', content: 'Hello!' }])
const seen: string[] = []
await agent.runAgent({ runId: 'run-1' }, { onEvent: ({ event }) => void seen.push(event.type) })

const answer = agent.messages.at(-1)
console.log('answer:', answer?.content)
assert.equal(answer?.role, 'assistant')
assert.equal(seen[0], 'RUN_STARTED')
assert.equal(seen.at(-1), 'RUN_FINISHED')
assert.deepEqual(registered.messages, [], 'what is registered has no conversation of its own')
