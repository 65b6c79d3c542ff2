import { fromAdk, clientTools, demoLlm } from 'millrace/adk'
import { FunctionTool, LlmAgent, LogLevel, setLogLevel } from '@google/adk'
import { z } from 'zod'

/** The ADK agent of `npm start`. Importing this file takes seconds: `lazyAdkAgent` does it on demand. */
export function createAdkAgent() {
  setLogLevel(LogLevel.WARN)
  const weather = new FunctionTool({
    name: 'get_weather',
    description: 'Tells the weather in a city.',
    parameters: z.object({ city: z.string() }),
    execute: ({ city }, context) => {
      context?.state.set('lastCity', city)
      // Invented, but always the same for a city.
      return { city, temperature: 3 + city.length, sky: ['sun', 'rain', 'clouds'][city.length % 3] }
    },
  })
  const book = new FunctionTool({
    name: 'book_table',
    description: 'Books a table in a restaurant. The guest is asked before anything is booked.',
    parameters: z.object({ restaurant: z.string(), people: z.number().int() }),
    requireConfirmation: true,
    execute: ({ restaurant, people }) => `A table for ${people} at ${restaurant} is booked.`,
  })
  const agent = new LlmAgent({
    name: 'adk',
    model: modelOf(process.env),
    instruction:
      'Help guests. Look the weather up, never guess it. Do not ask whether you may book: the tool does.',
    tools: [weather, book, clientTools()],
  })
  return fromAdk(agent)
}

/** Gemini if there is a key for it, else the demo model. */
function modelOf({ GEMINI_API_KEY: key = '', MILLRACE_MODEL: wish = '' }) {
  if (key === '' || wish === 'demo') return demoLlm()
  return wish.startsWith('google/') ? wish.slice('google/'.length) : 'gemini-2.5-flash'
}
