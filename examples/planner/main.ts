/**
 * Plan first, then act: a planner writes the steps, an executor carries out one at a time, a replanner reads the result
 * and answers or changes the open steps. The plan is shared state, which a client can show as it changes.
 */
import assert from 'node:assert/strict'
import { defineAgent, defineTool, run } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { planExecute } from 'millrace/prebuilt'
import { z } from 'zod'

const price = defineTool({
  name: 'price',
  description: 'What something costs.',
  input: z.object({ item: z.string() }),
  execute: ({ item }) => (item === 'tent' ? 'sold out' : '80 euros'),
})

// Scripts replace the models. The planner's second answer comes after the first step.
const planner = scriptedModel([
  '{"steps": ["Find out what a tent costs", "Compare it with the budget"]}',
  '{"type": "plan", "response": "", "steps": ["Find out what a hammock costs"]}',
  '{"type": "respond", "response": "Tents are sold out. A hammock is 80 euros, within your budget.", "steps": []}',
])
const executor = defineAgent({
  name: 'executor',
  model: scriptedModel([
    [{ toolCall: { name: 'price', args: { item: 'tent' } } }],
    'Tents are sold out.',
    [{ toolCall: { name: 'price', args: { item: 'hammock' } } }],
    'A hammock costs 80 euros.',
  ]),
  tools: [price],
})

const camping = planExecute({ name: 'camping', planner, executor })

const going = run(camping, 'I have 100 euros. Where do I sleep?')
for await (const event of going)
  if (event.type === 'STATE_DELTA') console.log('plan:', JSON.stringify(event.delta))

const outcome = await going.result
assert.equal(outcome.type, 'completed')
console.log('answer:', outcome.text)
assert.match(outcome.text, /^Tents are sold out\. A hammock/)
assert.deepEqual(outcome.state, {
  plan: {
    steps: [
      { text: 'Find out what a tent costs', status: 'done', result: 'Tents are sold out.' },
      { text: 'Find out what a hammock costs', status: 'done', result: 'A hammock costs 80 euros.' },
    ],
  },
})
