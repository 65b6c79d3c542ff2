/**
 * A conversation in the terminal: streaming text, tool calls, and an approval. Runs on the demo model unless a key is set.
 * With no terminal to read from, it plays two lines by itself.
 */
import { createInterface } from 'node:readline/promises'
import { defineAgent, defineTool, run } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { z } from 'zod'

const weather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 7, sky: 'rain' }),
})

const book = defineTool({
  name: 'book_table',
  description: 'Books a table in a restaurant.',
  input: z.object({ restaurant: z.string(), people: z.number() }),
  async execute({ restaurant, people }, ctx) {
    const answer = await ctx.interrupt({
      message: `Book a table for ${people} at ${restaurant}?`,
      responseSchema: z.object({ approved: z.boolean() }),
    })
    return answer.status === 'resolved' && answer.payload.approved
      ? 'booked'
      : 'not booked: the guest said no'
  },
})

const agent = defineAgent({
  name: 'concierge',
  instructions: 'Help guests of the hotel. Be brief.',
  model: await modelFromEnv({ log: (line) => console.log(line) }),
  tools: [weather, book],
})

let messages = []

async function show(request, options) {
  const going = run(agent, request, options)
  for await (const event of going) {
    if (event.type === 'TEXT_MESSAGE_CONTENT') process.stdout.write(event.delta)
    if (event.type === 'TEXT_MESSAGE_END') process.stdout.write('\n')
    if (event.type === 'TOOL_CALL_START') console.log(`  [calls ${event.toolCallName}]`)
    if (event.type === 'TOOL_CALL_RESULT') console.log(`  [result ${JSON.stringify(event.content)}]`)
    if (event.type === 'RUN_ERROR') console.log(`  [error ${event.code}: ${event.message}]`)
  }
  const outcome = await going.result
  messages = [...outcome.messages]
  return outcome
}

async function say(text, confirm) {
  let outcome = await show([...messages, { id: crypto.randomUUID(), role: 'user', content: text }])
  while (outcome.type === 'interrupted') {
    const resume = []
    for (const { id: interruptId, message } of outcome.interrupts) {
      resume.push({
        interruptId,
        status: 'resolved',
        payload: { approved: await confirm(message ?? 'Go on?') },
      })
    }
    outcome = await show({ resume }, { checkpoint: outcome.checkpoint })
  }
}

if (process.stdin.isTTY) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  console.log('Try: What is the weather in Oslo?   or: Book a table for 2 at "Noma".   Ctrl-C ends.\n')
  terminal.on('close', () => process.exit(0))
  for (;;) {
    const text = await terminal.question('you> ')
    if (text.trim() !== '')
      await say(text, async (question) => /^y/i.test(await terminal.question(`${question} (y/n) `)))
  }
} else {
  const approve = async (question) => {
    console.log(`  [asks] ${question} -> yes`)
    return true
  }
  for (const line of ['What is the weather in Oslo?', 'Book a table for 2 at "Noma".']) {
    console.log(`you> ${line}`)
    await say(line, approve)
  }
  console.log('\nThe server is still to come: docs/architecture.md says what is here and where it goes.')
}
