/**
 * Tools that report progress, change the shared state, share values, and fail without ending the run.
 */
import assert from 'node:assert/strict'
import { defineAgent, defineTool, run } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { z } from 'zod'

const pack = defineTool({
  name: 'pack',
  description: 'Packs items into the suitcase.',
  input: z.object({ items: z.array(z.string()) }),
  // A generator yields progress, which clients see as an activity, and returns the result.
  async *execute({ items }, ctx) {
    for (const [index, item] of items.entries()) {
      await Promise.resolve()
      yield { packed: index + 1, of: items.length }
      ctx.setState((state: { suitcase: string[] }) => ({ suitcase: [...state.suitcase, item] }))
    }
    ctx.values.set('lastPacked', items.at(-1))
    return `${items.length} items packed`
  },
})

const weigh = defineTool({
  name: 'weigh',
  description: 'Weighs the suitcase.',
  execute: () => {
    throw new Error('the scales are broken')
  },
})

const model = scriptedModel([
  [
    { toolCall: { name: 'pack', args: { items: ['hat', 'coat'] } } },
    { toolCall: { name: 'weigh', args: {} } },
  ],
  ['Packed. I could not weigh it: the scales are broken.'],
])
const agent = defineAgent({ name: 'packer', model, tools: [pack, weigh] })

const travelling = run(agent, {
  messages: [{ id: 'u1', role: 'user', content: 'Pack my hat and coat.' }],
  state: { suitcase: [] },
})
for await (const event of travelling) {
  if (event.type === 'ACTIVITY_SNAPSHOT') console.log('progress:', event.content)
  if (event.type === 'STATE_DELTA') console.log('state:', JSON.stringify(event.delta))
  if (event.type === 'TOOL_CALL_RESULT') console.log('result:', event.content)
}

const outcome = await travelling.result
assert.equal(outcome.type, 'completed')
assert.deepEqual(outcome.state, { suitcase: ['hat', 'coat'] })
const results = outcome.messages.flatMap((message) => (message.role === 'tool' ? [message.content] : []))
assert.deepEqual(results, ['2 items packed', 'Error: the scales are broken'])
