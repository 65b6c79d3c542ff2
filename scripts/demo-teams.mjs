import { defineAgent, defineTool } from 'millrace'
import { deepAgent, planExecute, supervisor } from 'millrace/prebuilt'
import { z } from 'zod'
import { deepDemoModel, inOrder, stepByStep } from './demo-plans.mjs'
import { approved, getWeather } from './demo-tools.mjs'

/**
 * The agents of `npm start` that consist of other agents.
 *
 * @param {import('millrace/models').Model} model
 */
export function createTeamAgents(model) {
  return [team(model), planner(model), deep(model)]
}

/** Two workers: one knows the weather, one books rooms and interrupts for approval first. */
export function createWorkers(model) {
  const weather = defineAgent({
    name: 'weather',
    description: 'Tells the weather in a city.',
    instructions: 'Tell the weather, and leave all else to others. Look it up, never guess it.',
    model,
    tools: [getWeather],
  })
  const hotels = defineAgent({
    name: 'hotels',
    description: 'Finds hotel rooms, tells what they cost, and books them.',
    instructions:
      'Find and book rooms, and leave all else to others. Do not ask whether you may book: the tool does.',
    model,
    tools: [findRooms, bookRoom],
  })
  return [weather, hotels]
}

function team(model) {
  return supervisor({
    name: 'team',
    description: 'Leads two agents: transfers to one after the other, and answers when they have reported.',
    model,
    workers: createWorkers(model),
    examples: ['How is the weather in Oslo, and what does a room cost there?', 'Book a room in Oslo for 2.'],
  })
}

function planner(model) {
  const executor = defineAgent({
    name: 'executor',
    description: 'Carries out a step of the plan.',
    instructions: 'Do not ask whether you may book: the tool does.',
    model,
    tools: [getWeather, findRooms, bookRoom],
  })
  // The demo model cannot plan: two agents without a model replace it.
  const minds = model.provider === 'demo' ? { planner: stepByStep, replanner: inOrder } : { planner: model }
  return planExecute({
    name: 'planner',
    description: 'Plans first, then does one step after the other. The plan is in the shared state.',
    ...minds,
    executor,
    examples: [
      'First tell me the weather in Oslo, then the weather in Bergen, then find a room in Bergen.',
      'First find a room in Rome, then book a room in Rome for 2.',
    ],
  })
}

function deep(model) {
  const researcher = defineAgent({
    name: 'researcher',
    description: 'Finds out about a city: its weather and its rooms.',
    model,
    tools: [getWeather, findRooms],
  })
  return deepAgent({
    name: 'deep',
    description:
      'Does long work: keeps a list of steps and files in the shared state, and delegates to subagents.',
    instructions:
      'Compare cities. Give each city to a researcher of its own, all at once. Write what you find to a file.',
    model: model.provider === 'demo' ? deepDemoModel(model) : model,
    subAgents: [researcher],
    examples: ['Compare the weather in Oslo and Bergen.', 'Compare the weather in Rome, Paris and Lisbon.'],
  })
}

export const findRooms = defineTool({
  name: 'find_rooms',
  description: 'Finds rooms in a city, and what they cost.',
  input: z.object({ city: z.string() }),
  // Invented, but always the same for a city.
  execute: ({ city }) => ({
    hotel: `A room in the Grand ${city}`,
    price: `${60 + 10 * city.length} euros a night`,
  }),
})

const bookRoom = defineTool({
  name: 'book_room',
  description: 'Books a room in a city. The guest is asked before anything is booked.',
  input: z.object({ city: z.string(), people: z.number().int() }),
  execute: ({ city, people }, ctx) =>
    approved(ctx, { message: `Book a room for ${people} in ${city}?`, done: 'The room is booked.' }),
})
