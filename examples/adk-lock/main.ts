/**
 * A lock of the application's own around every run: here one run at a time for each customer, whatever the thread. The
 * server calls the returned function when the run is over, however it ends.
 */
import assert from 'node:assert/strict'
import { LlmAgent } from '@google/adk'
import { MillraceError } from 'millrace'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'

// In production a row of a database or a key of Redis, with an expiry.
const locked = new Set<string>()
const log: string[] = []

// Runs wait here, so that they are live at the same time.
let proceed: () => void = () => undefined
const gate = new Promise<void>((resolve) => (proceed = resolve))
const guide = new LlmAgent({
  name: 'guide',
  model: demoLlm(),
  beforeModelCallback: () => gate.then(() => undefined),
})

const server = createServer({
  agents: [fromAdk(guide)],
  identify: (request) => ({
    user: request.headers.get('x-user') ?? 'nobody',
    claims: { customer: request.headers.get('x-customer') },
  }),
  hooks: {
    lock({ claims, runId }) {
      const customer = String(claims.customer)
      if (locked.has(customer))
        throw new MillraceError(
          'THREAD_IS_LOCKED',
          `A run of ${customer} is live. Try again when it is over.`,
        )
      locked.add(customer)
      log.push(`${runId} locks ${customer}`)
      return () => {
        locked.delete(customer)
        log.push(`${runId} unlocks ${customer}`)
      }
    },
  },
})
const serving = await serve(server, { port: 0 })

function run(runId: string, customer: string): Promise<Response> {
  return fetch(`${serving.url}/run`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-user': runId, 'x-customer': customer },
    body: JSON.stringify({
      ...{ threadId: `thread of ${runId}`, runId, protocolVersion: '1.0', state: {}, tools: [], context: [] },
      messages: [{ id: 'u1', role: 'user', content: 'What is there to see in Oslo?' }],
    }),
  })
}

// Two people of one customer, and one of another, at the same time.
const first = await run('ann', 'north')
const [second, other] = await Promise.all([run('bob', 'north'), run('eve', 'south')])
assert.equal(second.status, 409)
proceed()
console.log('refused:', await second.text())
assert.match(await first.text(), /RUN_FINISHED/)
assert.match(await other.text(), /RUN_FINISHED/)

// The lock is free again.
const third = await run('bob', 'north')
assert.match(await third.text(), /RUN_FINISHED/)
console.log(log.join('\n'))
assert.equal(locked.size, 0)
assert.deepEqual(
  log.filter((line) => line.startsWith('bob')),
  ['bob locks north', 'bob unlocks north'],
)
await serving.close()
