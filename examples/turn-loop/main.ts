/**
 * People keep typing while an agent works. A turn loop takes messages at any time: here the user changes their mind while
 * a tool runs, and asks something else while the agent waits for approval.
 */
import assert from 'node:assert/strict'
import { createTurnLoop, defineAgent, defineTool } from 'millrace'
import { scriptedModel } from 'millrace/models'
import { z } from 'zod'

const city = z.object({ city: z.string() })

const findHotels = defineTool({
  name: 'find_hotels',
  description: 'Finds hotels in a city.',
  input: city,
  execute: ({ city }) => [`Grand ${city}`, `${city} Inn`],
})

const book = defineTool({
  name: 'book',
  description: 'Books a hotel.',
  input: city,
  async execute({ city }, ctx) {
    const answer = await ctx.interrupt({ message: `Book Grand ${city}?` })
    return answer.status === 'resolved' ? 'booked' : 'not booked'
  },
})

// A script replaces the model.
const model = scriptedModel([
  ['Looking for hotels.', { toolCall: { name: 'find_hotels', args: { city: 'Oslo' } } }],
  ['Bergen it is.', { toolCall: { name: 'book', args: { city: 'Bergen' } } }],
  'Your room in Bergen is booked.',
  'Breakfast is at eight.',
])
const agent = defineAgent({ name: 'concierge', model, tools: [findHotels, book] })

const loop = createTurnLoop(agent)
loop.push('A hotel in Oslo, please.')

let hasChanged = false
const turns: string[] = []
for await (const event of loop.events) {
  if (event.type === 'TEXT_MESSAGE_CONTENT') console.log('agent:', event.delta)
  // The tool finishes, and the model reads its result together with the new wish.
  if (event.type === 'TOOL_CALL_START' && !hasChanged) {
    hasChanged = true
    loop.push('No, in Bergen!', { mode: 'after-tools' })
  }
  if (event.type !== 'RUN_FINISHED') continue
  turns.push(event.outcome?.type ?? 'success')
  const [interrupt] = loop.openInterrupts
  if (interrupt) {
    console.log('interrupt:', interrupt.message)
    loop.push('And when is breakfast?') // Kept for the turn after this one.
    loop.answer([{ interruptId: interrupt.id, status: 'resolved' }])
  }
  if (loop.status === 'idle') void loop.stop()
}

assert.deepEqual(turns, ['cancelled', 'interrupt', 'success', 'success'])
assert.deepEqual(
  loop.messages.flatMap(({ role, content }) => (role === 'user' || role === 'tool' ? [content] : [])),
  [
    'A hotel in Oslo, please.',
    '["Grand Oslo","Oslo Inn"]',
    'No, in Bergen!',
    'booked',
    'And when is breakfast?',
  ],
)
assert.deepEqual(loop.unhandled, [])
