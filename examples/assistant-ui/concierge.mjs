import { defineAgent, defineTool } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { z } from 'zod'

const getWeather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string() }),
  execute: ({ city }) => ({ city, temperature: 7, sky: 'rain' }),
})

const bookTable = defineTool({
  name: 'book_table',
  description: 'Books a table in a restaurant, after the guest has agreed.',
  input: z.object({ guests: z.number() }),
  async execute({ guests }, ctx) {
    const answer = await ctx.interrupt({
      message: `Book a table for ${guests}?`,
      responseSchema: z.object({ approved: z.boolean() }),
    })
    return answer.status === 'resolved' && answer.payload.approved
      ? 'The table is booked.'
      : 'No table was booked.'
  },
})

/** Uses the model of the first key in the environment, or the demo model, which tells stories too. */
export const concierge = defineAgent({
  name: 'concierge',
  description: 'Helps guests of a hotel.',
  instructions: 'Help guests. Look the weather up, never guess it.',
  model: await modelFromEnv({ demo: { paceMs: Number(process.env.PACE_MS ?? 40) } }),
  tools: [getWeather, bookTable],
})
