import { defineTool } from 'millrace'
import { z } from 'zod'

export const getWeather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather in a city.',
  input: z.object({ city: z.string() }),
  // Invented, but always the same for a city.
  execute: ({ city }) => ({
    city,
    temperature: 3 + city.length,
    sky: ['sun', 'rain', 'clouds'][city.length % 3],
  }),
})

/**
 * Raises an interrupt for approval, and returns the outcome as the tool's result.
 *
 * @param {import('millrace').ToolContext} ctx
 * @param {{ message: string, done: string }} request
 */
export async function approved(ctx, { message, done }) {
  const answer = await ctx.interrupt({ message, responseSchema: z.object({ approved: z.boolean() }) })
  const isApproved = answer.status === 'resolved' && answer.payload.approved
  return isApproved ? done : 'Nothing is booked: it was not approved.'
}
