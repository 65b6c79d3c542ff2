import { isInstalled, lazyAgent } from './lazy-agent.mjs'

/** The agents of ADK: one for itself, and one for the tree of all runtimes. Undefined if ADK is not installed. */
export function lazyAdkAgents() {
  if (!isInstalled('@google/adk')) return undefined
  const load = () => import('./demo-adk.mjs')
  const agent = lazyAgent(
    {
      name: 'adk',
      description:
        'An agent of Google ADK: tools of its own and of the client, and one that asks a person first.',
      examples: ['What is the weather in Oslo?', 'Book a table for 2 at Maaemo.'],
    },
    {
      outline: outlineOf([
        ['get_weather', 'Tells the weather in a city.', { city: 'string' }],
        ['book_table', booking('a table in a restaurant'), { restaurant: 'string', people: 'integer' }],
      ]),
      create: async () => (await load()).createAdkAgent(),
    },
  )
  const sights = lazyAgent(
    { name: 'sights', description: 'Of Google ADK: finds museums in a city, and books tours.' },
    {
      outline: outlineOf([
        ['find_museum', 'Finds a museum in a city, and what it costs.', { city: 'string' }],
        ['book_tour', booking('a tour of a museum'), { city: 'string' }],
      ]),
      create: async () => (await load()).createSightsAgent(),
    },
  )
  return { agent, sights }
}

function booking(what) {
  return `Books ${what}. The guest is asked before anything is booked.`
}

/** The tools with the types of their parameters, all of which are required. */
function outlineOf(tools) {
  return {
    ...{ kind: 'adk', runtime: 'adk' },
    tools: tools.map(([name, description, types]) => ({
      ...{ name, description },
      parameters: {
        type: 'object',
        properties: Object.fromEntries(Object.entries(types).map(([key, type]) => [key, { type }])),
        required: Object.keys(types),
      },
    })),
  }
}
