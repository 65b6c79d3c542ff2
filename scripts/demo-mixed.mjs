import { HttpAgent } from '@ag-ui/client'
import { defineAgent, parallel } from 'millrace'
import { createMemoryStore } from 'millrace/memory'
import { fromAgUi } from 'millrace/remote'
import { createServer } from 'millrace/server'
import { findRooms } from './demo-teams.mjs'
import { getWeather } from './demo-tools.mjs'

/**
 * Four runtimes in one tree, each with a part of the answer: the kit knows the weather, the given agents of ADK and LangGraph
 * museums and restaurants, and an agent behind an AG-UI endpoint rooms.
 *
 * @param {import('millrace/models').Model} model
 * @param {import('millrace').Agent[]} specialists
 */
export function createMixedAgent(model, specialists) {
  const weather = defineAgent({
    name: 'weather',
    description: 'Of the kit: tells the weather in a city.',
    instructions: 'Tell the weather, and leave all else to others. Look it up, never guess it.',
    model,
    tools: [getWeather],
  })
  return parallel({
    name: 'mixed',
    description:
      'Four runtimes in one tree, side by side: the kit, Google ADK, LangGraph, and an agent over AG-UI.',
    agents: [weather, ...specialists, remoteRooms(model)],
    examples: [
      'Plan a day in Oslo: the weather, a museum, a restaurant and a room.',
      'Book a table for 2 at Maaemo and a tour of the museum in Oslo. How is the weather, and what does a room cost?',
    ],
  })
}

/** An agent on a server of its own. It stands in this process, so its requests need no port. */
function remoteRooms(model) {
  const rooms = defineAgent({
    name: 'rooms',
    description: 'Finds rooms, and what they cost.',
    instructions: 'Find rooms, and leave all else to others.',
    model,
    tools: [findRooms],
  })
  const server = createServer({ agents: [rooms], store: createMemoryStore() })
  const url = 'http://127.0.0.1/agents/rooms/run'
  const client = new HttpAgent({ url, fetch: (address, init) => server.fetch(new Request(address, init)) })
  return fromAgUi(client, { name: 'rooms', description: 'Behind an AG-UI endpoint: finds rooms in a city.' })
}
