/**
 * Calls the route handlers of a Next.js application as Next does, with Web requests. `route.ts` is all that the application
 * needs.
 */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { DELETE, GET, PATCH, POST } from './route.js'

const cookie = { cookie: 'session=ada' }
const client = new HttpAgent({
  url: 'http://localhost:3000/api/agents/storyteller/run',
  threadId: 'thread-1',
  headers: cookie,
  fetch: (url, init) => POST(new Request(url, init)),
})
client.addMessage({ id: 'u1', role: 'user', content: 'Tell me a story.' })
let deltas = 0
await client.runAgent(
  {},
  {
    onTextMessageContentEvent: () => {
      deltas++
    },
  },
)
console.log('answer:', client.messages.at(-1)?.content)
assert.ok(deltas > 10, 'the text streams')

const at = (path: string, init: RequestInit = {}) =>
  new Request(`http://localhost:3000/api/agents${path}`, {
    ...init,
    headers: { 'content-type': 'application/json', ...cookie },
  })
const { agents } = (await (await GET(at(''))).json()) as { agents: { name: string }[] }
assert.deepEqual(
  agents.map(({ name }) => name),
  ['storyteller'],
)
const patch = JSON.stringify([{ op: 'add', path: '/mood', value: 'calm' }])
assert.equal((await PATCH(at('/storyteller/state/thread-1', { method: 'PATCH', body: patch }))).status, 200)
assert.equal((await DELETE(at('/storyteller/thread/thread-1', { method: 'DELETE' }))).status, 200)
assert.equal((await GET(at('/storyteller/message_snapshot/thread-1'))).status, 404)

const stranger = await GET(new Request('http://localhost:3000/api/agents'))
assert.equal(stranger.status, 401)
