/** An answer that matches a schema. One that does not match is rejected, and the model tries again. */
import assert from 'node:assert/strict'
import { defineAgent, run } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { z } from 'zod'

const recipe = z.object({ title: z.string(), minutes: z.number().int().positive() })

const model = scriptedModel([
  ['{"title": "Pancakes", "minutes": "twenty"}'],
  ['{"title": "Pancakes", "minutes": 20}'],
])
const agent = defineAgent({ name: 'cook', model, output: recipe })

const cooking = run(agent, 'A quick recipe, please.')
for await (const event of cooking) {
  if (event.type === 'CUSTOM' && event.name === 'millrace.retry') console.log('taken back:', event.value)
}
const outcome = await cooking.result
assert.equal(outcome.type, 'completed')
console.log('result:', outcome.result)
assert.deepEqual(recipe.parse(outcome.result), { title: 'Pancakes', minutes: 20 })
