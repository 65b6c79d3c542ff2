/** A Google ADK agent behind a server, and an AG-UI client that uses it. */
import assert from 'node:assert/strict'
import { HttpAgent } from '@ag-ui/client'
import { FunctionTool, LlmAgent } from '@google/adk'
import { demoLlm, fromAdk } from 'millrace/adk'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { z } from 'zod'

const weather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 7, sky: 'rain' }),
})

const guide = new LlmAgent({
  name: 'guide',
  model: process.env.GEMINI_API_KEY ? 'gemini-2.5-flash' : demoLlm(),
  instruction: 'Look the weather up, never guess it.',
  tools: [weather],
})

const server = createServer({ agents: [fromAdk(guide)] })
const serving = await serve(server, { port: 0 })

const seen: string[] = []
const client = new HttpAgent({ url: serving.url, threadId: 'thread-1' })
client.addMessage({ id: 'u1', role: 'user', content: 'What is the weather in Oslo?' })
await client.runAgent({}, { onEvent: ({ event }) => void seen.push(event.type) })

const answer = JSON.stringify(client.messages.at(-1)?.content)
console.log('answer:', answer)
assert.match(answer, /7|rain/)
assert.ok(seen.includes('TOOL_CALL_RESULT'), 'the tool was called')
assert.ok(seen.filter((type) => type === 'TEXT_MESSAGE_CONTENT').length > 1, 'the answer was streamed')
await serving.close()
