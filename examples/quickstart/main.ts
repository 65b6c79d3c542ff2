/**
 * An agent with one tool, in twenty lines.
 *
 *   node dist/quickstart/main.js "Is it raining in Oslo?"
 *
 * Without a key it runs on the demo model; set OPENAI_API_KEY, ANTHROPIC_API_KEY or GEMINI_API_KEY for a real one.
 */
import assert from 'node:assert/strict'
import { defineAgent, defineTool, run } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { z } from 'zod'

const weather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 7, sky: 'rain' }),
})

const agent = defineAgent({
  name: 'concierge',
  instructions: 'Help guests. Look the weather up, never guess it.',
  model: await modelFromEnv(),
  tools: [weather],
})

const events: string[] = []
for await (const event of run(agent, process.argv[2] ?? 'What is the weather in Oslo?')) {
  events.push(event.type)
  if (event.type === 'TEXT_MESSAGE_CONTENT') process.stdout.write(event.delta)
}
console.log()

assert.equal(events[0], 'RUN_STARTED')
assert.ok(events.includes('TOOL_CALL_RESULT'), 'the tool was called')
assert.ok(events.includes('TEXT_MESSAGE_CONTENT'), 'the agent answered')
assert.equal(events.at(-1), 'RUN_FINISHED')
