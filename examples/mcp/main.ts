/** The tools of an MCP server, used like any other. The connection stays open between runs. */
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { defineAgent, mcpTools, run } from 'millrace'
import { scriptedModel } from 'millrace/models'

const arithmetic = mcpTools({
  command: process.execPath,
  args: [fileURLToPath(new URL('./server.js', import.meta.url))],
})
const model = scriptedModel([[{ toolCall: { name: 'add', args: { a: 2, b: 40 } } }], ['That makes 42.']])
const agent = defineAgent({ name: 'calculator', model, tools: [arithmetic] })

try {
  const outcome = await run(agent, 'What is 2 + 40?').result
  assert.equal(outcome.type, 'completed', JSON.stringify(outcome))
  const result = outcome.messages.find(({ role }) => role === 'tool')
  console.log('the server says:', result?.content)
  assert.equal(result?.content, '42')
  assert.equal(outcome.text, 'That makes 42.')
} finally {
  await arithmetic.close()
}
