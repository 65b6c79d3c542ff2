/**
 * A supervisor: it transfers to one worker after the other, reads what each reports, and answers itself. When a worker
 * raises an interrupt, the whole team waits, and resumes with the answer.
 */
import assert from 'node:assert/strict'
import { defineAgent, defineTool, run } from 'millrace'
import { demoModel } from 'millrace/models'
import { supervisor } from 'millrace/prebuilt'
import { z } from 'zod'

// Needs no key: it transfers to the agents whose words the user uses. Use `modelFromEnv()` for a real model.
const model = demoModel({ paceMs: 0 })
const city = z.object({ city: z.string() })

const weather = defineAgent({
  name: 'weather',
  description: 'Tells the weather in a city.',
  model,
  tools: [
    defineTool({
      name: 'get_weather',
      description: 'Tells the weather in a city.',
      input: city,
      execute: () => 'It rains.',
    }),
  ],
})

const hotels = defineAgent({
  name: 'hotels',
  description: 'Finds hotel rooms, and books them.',
  model,
  tools: [
    defineTool({
      name: 'book_room',
      description: 'Books a room in a city.',
      input: city,
      async execute(args, { interrupt }) {
        const answer = await interrupt({ message: `Book a room in ${args.city}?` })
        return answer.status === 'resolved' ? 'The room is booked.' : 'Nothing is booked.'
      },
    }),
  ],
})

const team = supervisor({ name: 'team', model, workers: [weather, hotels] })

const turns: string[] = []
const going = run(team, 'How is the weather in Oslo? And book a room there, please.')
for await (const event of going) if (event.type === 'SUBAGENT_STARTED') turns.push(event.name)
assert.deepEqual(turns, ['weather', 'hotels'])
const interrupted = await going.result
assert.equal(interrupted.type, 'interrupted')
const [interrupt] = interrupted.interrupts
assert.ok(interrupt)
console.log('interrupt:', interrupt.message)

const answered = await run(
  team,
  { resume: [{ interruptId: interrupt.id, status: 'resolved', payload: true }] },
  { checkpoint: interrupted.checkpoint },
).result
assert.equal(answered.type, 'completed')
console.log('answer:', answered.text)
// The workers have told what they found; the supervisor closes.
assert.match(answered.text, /weather and hotels/)
