import { fromAdk, clientTools, demoLlm } from 'millrace/adk'
import { FunctionTool, LlmAgent, LogLevel, setLogLevel } from '@google/adk'
import { z } from 'zod'

setLogLevel(LogLevel.WARN)

/** The ADK agent of `npm start`. Importing this file takes seconds: `lazyAdkAgents` does it on demand. */
export function createAdkAgent() {
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

/** The ADK agent in the tree of all runtimes. */
export function createSightsAgent() {
  const find = new FunctionTool({
    name: 'find_museum',
    description: 'Finds a museum in a city, and what it costs.',
    parameters: z.object({ city: z.string() }),
    // Invented, but always the same for a city.
    execute: ({ city }) => ({ museum: `The museum of ${city}`, price: `${6 + city.length} euros` }),
  })
  const book = new FunctionTool({
    name: 'book_tour',
    description: 'Books a tour of a museum. The guest is asked before anything is booked.',
    parameters: z.object({ city: z.string() }),
    requireConfirmation: true,
    execute: ({ city }) => `A tour of the museum of ${city} is booked.`,
  })
  const agent = new LlmAgent({
    name: 'sights',
    model: modelOf(process.env),
    instruction:
      'Find museums and book tours, and leave all else to others. Do not ask whether you may book: the tool does.',
    tools: [find, book],
  })
  return fromAdk(agent)
}

/** Gemini if there is a key for it, else the demo model. */
function modelOf({ GEMINI_API_KEY: key = '', MILLRACE_MODEL: wish = '' }) {
  if (key === '' || wish === 'demo') return demoLlm()
  return wish.startsWith('google/') ? wish.slice('google/'.length) : 'gemini-2.5-flash'
}
