import { defineAgent, defineTool } from 'millrace'
import { z } from 'zod'
import { createTeamAgents } from './demo-teams.mjs'
import { approved, getWeather } from './demo-tools.mjs'

/**
 * The agents of `npm start`. The first example of each shows what the agent is for, also with the demo model, which
 * recognises names by their capitals.
 *
 * @param {import('millrace/models').Model} model
 */
export function createDemoAgents(model) {
  return [chat(model), tools(model), approval(model), sharedState(model), ...createTeamAgents(model)]
}

function chat(model) {
  return defineAgent({
    name: 'chat',
    description: 'Talks: text and reasoning stream as they are made.',
    instructions: 'Be friendly and brief.',
    model,
    examples: ['Tell me a story.', 'Why is the sky blue? Think first.'],
  })
}

function tools(model) {
  return defineAgent({
    name: 'tools',
    description: 'Calls a tool of the backend to find out what it does not know.',
    instructions: 'Look the weather up, never guess it.',
    model,
    tools: [getWeather],
    examples: ['What is the weather in Oslo?', 'Is it warm in Buenos Aires?'],
  })
}

function approval(model) {
  const book = defineTool({
    name: 'book_table',
    description: 'Books a table in a restaurant. The guest is asked before anything is booked.',
    input: z.object({ restaurant: z.string(), people: z.number().int() }),
    execute: ({ restaurant, people }, ctx) =>
      approved(ctx, {
        message: `Book a table for ${people} at ${restaurant}?`,
        done: 'The table is booked.',
      }),
  })
  return defineAgent({
    name: 'approval',
    description: 'Asks a person before it acts. The interrupt stays open, even while the server is down.',
    instructions: 'Book tables for guests. Do not ask whether you may: the tool does.',
    model,
    tools: [book],
    examples: ['Book a table for 2 at Maaemo.', 'Reserve a table for five at Noma.'],
  })
}

function sharedState(model) {
  const input = z.object({ items: z.array(z.string()).min(1) })
  const add = defineTool({
    name: 'add_to_shopping_list',
    description: 'Puts items on the shopping list.',
    input,
    execute: ({ items }, ctx) => change(ctx, (list) => [...new Set([...list, ...items])]),
  })
  const remove = defineTool({
    name: 'remove_from_shopping_list',
    description: 'Takes items off the shopping list.',
    input,
    execute: ({ items }, ctx) => change(ctx, (list) => list.filter((item) => !items.includes(item))),
  })
  return defineAgent({
    name: 'shared-state',
    description: 'Keeps a shopping list in the state that it shares with the client.',
    instructions: ({ state }) => `Keep the shopping list. It has: ${JSON.stringify(listIn(state))}.`,
    model,
    tools: [add, remove],
    examples: ['Add Milk, Bread and Eggs to my shopping list.', 'Remove Bread from my shopping list.'],
  })
}

function change(ctx, next) {
  // With a function: calls of one answer run side by side.
  ctx.setState((state) => ({ ...state, shoppingList: next(listIn(state)) }))
  return { shoppingList: listIn(ctx.state) }
}

/** Clients may write the state too, so it is checked before use. */
function listIn(state) {
  const list = state?.shoppingList
  return Array.isArray(list) ? list.filter((item) => typeof item === 'string') : []
}
