import { SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool } from '@langchain/core/tools'
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { ToolNode, toolsCondition } from '@langchain/langgraph/prebuilt'
import { emit, fromLangGraph, getClientTools, toChatModel } from 'millrace/langgraph'
import { z } from 'zod'

const State = Annotation.Root({ ...MessagesAnnotation.spec, lastCity: Annotation() })

/**
 * The LangGraph agent of `npm start`. `lazyGraphAgents` imports this file on demand.
 *
 * @param {import('millrace/models').Model} model
 * @param {string} file for checkpoints, if the package that writes it is installed
 */
export async function createGraphAgent(model, file) {
  const instructions =
    'Help guests. Look the weather up, never guess it. Do not ask whether you may book: the tool does.'
  const graph = await reactGraph({ model, file, instructions, tools: [weather(), booking()] })
  return fromLangGraph(graph, { name: 'graph' })
}

/** The graph in the tree of all runtimes. */
export async function createDinnerAgent(model, file) {
  const instructions =
    'Find restaurants and book tables, and leave all else to others. Do not ask whether you may book: the tool does.'
  const graph = await reactGraph({ model, file, instructions, tools: [restaurants(), booking()] })
  return fromLangGraph(graph, { name: 'dinner' })
}

async function reactGraph({ model, file, instructions, tools }) {
  const chat = toChatModel(model)
  const withClients = (config) => [...tools, ...getClientTools(config)]
  return (
    new StateGraph(State)
      .addNode('agent', async ({ messages }, config) => ({
        messages: [
          await chat.bindTools(withClients(config)).invoke([new SystemMessage(instructions), ...messages]),
        ],
      }))
      // For a client tool the graph waits here until the client has sent the result.
      .addNode('tools', (state, config) => new ToolNode(withClients(config)).invoke(state, config))
      .addEdge(START, 'agent')
      .addConditionalEdges('agent', toolsCondition)
      .addEdge('tools', 'agent')
      .compile({ checkpointer: await checkpointerAt(file) })
  )
}

function weather() {
  const look = ({ city }, { toolCall }) => {
    // Invented, but always the same for a city.
    const found = { city, temperature: 3 + city.length, sky: ['sun', 'rain', 'clouds'][city.length % 3] }
    void emit('show_weather', found)
    const result = new ToolMessage({ tool_call_id: toolCall.id, content: JSON.stringify(found) })
    return new Command({ update: { lastCity: city, messages: [result] } })
  }
  return tool(look, {
    name: 'get_weather',
    description: 'Tells the weather in a city.',
    schema: z.object({ city: z.string() }),
  })
}

function restaurants() {
  // Invented, but always the same for a city.
  const find = ({ city }) =>
    JSON.stringify({ dinner: `Dinner at the Old Mill in ${city}`, price: `${30 + city.length} euros` })
  return tool(find, {
    name: 'find_restaurant',
    description: 'Finds a restaurant in a city, and what dinner costs there.',
    schema: z.object({ city: z.string() }),
  })
}

function booking() {
  const book = ({ restaurant, people }) => {
    const answer = interrupt({
      reason: 'confirmation',
      message: `Book a table for ${people} at ${restaurant}?`,
      responseSchema: { type: 'object', properties: { approved: { type: 'boolean' } } },
    })
    return answer?.approved === true ? 'The table is booked.' : 'Nothing is booked: it was not approved.'
  }
  return tool(book, {
    name: 'book_table',
    description: 'Books a table in a restaurant. The guest is asked before anything is booked.',
    schema: z.object({ restaurant: z.string(), people: z.number().int() }),
  })
}

/** In a file, so that interrupts survive a restart; in memory if the package for that is not installed. */
async function checkpointerAt(file) {
  try {
    const { SqliteSaver } = await import('@langchain/langgraph-checkpoint-sqlite')
    return SqliteSaver.fromConnString(file)
  } catch {
    return new MemorySaver()
  }
}
