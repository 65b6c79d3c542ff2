/**
 * The client's context reaches tools and model, and messages and state can be read, changed and deleted over HTTP. Each
 * user sees their own threads.
 */
import assert from 'node:assert/strict'
import { HttpAgent, type Context, type Message } from '@ag-ui/client'
import { FunctionTool, LlmAgent } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { z } from 'zod'

const weather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }, tool) => {
    // The client's context, for this run only. The model reads it too.
    const context = tool?.state.get<Context[]>('temp:ag_ui_context') ?? []
    const unit = context.find(({ description }) => description === 'unit')?.value ?? 'Celsius'
    // State is shared: the client sees it change.
    tool?.state.set('lastCity', city)
    return { city, temperature: unit === 'Fahrenheit' ? 45 : 7, unit, asker: tool?.state.get('temp:asker') }
  },
})
const guide = new LlmAgent({
  name: 'guide',
  model: process.env.GEMINI_API_KEY ? 'gemini-2.5-flash' : demoLlm(),
  instruction: 'Look the weather up, never guess it. The theme of the page is {theme?}.',
  tools: [weather],
})

const server = createServer({
  agents: [fromAdk(guide, { tempState: ({ user }) => ({ asker: user }) })],
  identify: (request) => ({ user: request.headers.get('x-user') ?? 'nobody' }),
})
const serving = await serve(server, { port: 0 })
const headers = { 'x-user': 'ada' }
const ask = async (path: string, init: RequestInit = {}) =>
  fetch(serving.url + path, { ...init, headers: { ...headers, 'content-type': 'application/json' } })
const get = async (path: string) => (await ask(path)).json()

const client = new HttpAgent({
  ...{ url: serving.url, headers, threadId: 'thread-1' },
  initialState: { theme: 'dark' },
})
client.addMessage({ id: 'u1', role: 'user', content: 'What is the weather in Oslo?' })
await client.runAgent({ context: [{ description: 'unit', value: 'Fahrenheit' }] })
const result = client.messages.find((message) => message.role === 'tool')?.content
console.log('result:', result)
assert.equal(result, '{"city":"Oslo","temperature":45,"unit":"Fahrenheit","asker":"ada"}')

// The history of the thread, as the client has it, and the state. Temporary state is in neither.
const history = (await get('/message_snapshot/thread-1')) as { messages: Message[] }
assert.deepEqual(history.messages, client.messages)
const state = { theme: 'dark', lastCity: 'Oslo' }
assert.deepEqual(await get('/state_snapshot/thread-1'), { type: 'STATE_SNAPSHOT', snapshot: state })

// A patch changes the state without a run; the agent reads it in the next one.
const patch = JSON.stringify([{ op: 'replace', path: '/theme', value: 'light' }])
assert.equal((await ask('/state/thread-1', { method: 'PATCH', body: patch })).status, 200)
client.addMessage({ id: 'u2', role: 'user', content: 'And is it warm in Bergen?' })
await client.runAgent()
assert.deepEqual(client.state, { theme: 'light', lastCity: 'Bergen' })

// The user's only thread, until it is deleted.
const threads = async () => ((await get('/thread/list')) as { threads: { title: string }[] }).threads
assert.deepEqual(
  (await threads()).map(({ title }) => title),
  ['What is the weather in Oslo?'],
)
headers['x-user'] = 'bob'
assert.deepEqual(await threads(), [])
headers['x-user'] = 'ada'
assert.equal((await ask('/thread/thread-1', { method: 'DELETE' })).status, 200)
assert.deepEqual(await threads(), [])
await serving.close()
