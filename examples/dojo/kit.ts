/** The pages of the Dojo on agents of the kit. */
import { defineAgent, defineTool, sequential, type Agent } from 'millrace'
import { a2uiTool, withA2ui } from 'millrace/a2ui'
import { kitModel } from './models.js'
import * as scripts from './scripts.js'
import { booked, cookbook, meeting, page, place, plan, weatherIn, work } from './shapes.js'
import { flightList, hotelCards, hotelList, showFlights, showHotels } from './surfaces.js'
import { chosen, experiences, flightChoice, hotelChoice, type Choice } from './travel.js'

const getWeather = defineTool({
  name: 'get_weather',
  description: 'Tells the weather at a place.',
  input: place,
  execute: ({ location }) => weatherIn(location),
})

const agenticChat = defineAgent({
  name: 'kit-agentic_chat',
  instructions: 'Be brief. Change the background only when you are asked to.',
  model: kitModel(scripts.chat),
  tools: [getWeather],
})

const agenticChatReasoning = defineAgent({
  name: 'kit-agentic_chat_reasoning',
  model: kitModel(scripts.reasoning),
})

const agenticChatMultimodal = defineAgent({
  name: 'kit-agentic_chat_multimodal',
  model: kitModel(scripts.multimodal),
})

const backendToolRendering = defineAgent({
  name: 'kit-backend_tool_rendering',
  instructions: 'Look the weather up, never guess it.',
  model: kitModel(scripts.weather),
  tools: [getWeather],
})

// The page has the tool `generate_haiku`.
const toolBasedGenerativeUi = defineAgent({
  name: 'kit-tool_based_generative_ui',
  instructions: 'Write each haiku with the tool generate_haiku.',
  model: kitModel(scripts.haiku),
})

// The page has the tool `generate_task_steps`, which a person answers.
const humanInTheLoop = defineAgent({
  name: 'kit-human_in_the_loop',
  instructions: 'Plan with the tool generate_task_steps. Then do only the steps that are left.',
  model: kitModel(scripts.planner('generate_task_steps')),
})

const doSteps = defineTool({
  name: 'generate_task_steps_generative_ui',
  description: 'Does the steps of a task.',
  input: plan,
  async execute({ steps }, ctx) {
    for await (const all of work(steps)) ctx.setState({ steps: all })
    return 'All steps are done.'
  },
})

const agenticGenerativeUi = defineAgent({
  name: 'kit-agentic_generative_ui',
  instructions: 'Do every task with the tool generate_task_steps_generative_ui.',
  model: kitModel(scripts.worker),
  tools: [doSteps],
})

const writeRecipe = defineTool({
  name: 'generate_recipe',
  description: 'Shows a recipe. It replaces the one that was shown.',
  input: cookbook,
  execute({ recipe }, ctx) {
    ctx.setState({ recipe })
    return 'The recipe is shown.'
  },
})

const sharedState = defineAgent({
  name: 'kit-shared_state',
  instructions: ({ state }) => `Help with this recipe: ${JSON.stringify(state)}`,
  model: kitModel(scripts.cook),
  tools: [writeRecipe],
})

const writeDocument = defineTool({
  name: 'write_document_local',
  description: 'Writes the whole document, in Markdown.',
  input: page,
  execute({ document }, ctx) {
    ctx.setState({ document })
    return 'The document is written.'
  },
})

const predictiveStateUpdates = defineAgent({
  name: 'kit-predictive_state_updates',
  instructions: ({ state }) => `Write with write_document_local. The document: ${JSON.stringify(state)}`,
  model: kitModel(scripts.writer),
  tools: [writeDocument],
  predictState: [{ stateKey: 'document', tool: 'write_document_local', toolArgument: 'document' }],
})

/** An agent that lets the person choose. */
function pickerAgent(choice: Choice, key: 'flight' | 'hotel') {
  const { agent, message } = choice
  const pick = defineTool({
    name: `pick_${key}`,
    description: `Lets the person choose a ${key}.`,
    async execute(_, ctx) {
      const state = ctx.state as { readonly itinerary?: object }
      ctx.setState({ ...state, active_agent: agent, [agent]: choice.options })
      const answer = await ctx.interrupt({ message, metadata: { ...choice } })
      const option = chosen(answer.status === 'resolved' ? answer.payload : choice.recommendation)
      ctx.setState({
        ...(ctx.state as object),
        itinerary: { ...(ctx.state as typeof state).itinerary, [key]: option },
      })
      return `You take ${String(option.airline ?? option.name)}.`
    },
  })
  return defineAgent({ name: `kit-${agent}`, model: kitModel(scripts.picker(`pick_${key}`)), tools: [pick] })
}

const findExperiences = defineTool({
  name: 'find_experiences',
  description: 'Finds restaurants and things to do.',
  execute(_, ctx) {
    ctx.setState({ ...(ctx.state as object), active_agent: 'experiences', experiences })
    return 'There are wonderful experiences: Pier 39 and Tartine Bakery.'
  },
})

const subgraphs = sequential({
  name: 'kit-subgraphs',
  agents: [
    pickerAgent(flightChoice, 'flight'),
    pickerAgent(hotelChoice, 'hotel'),
    defineAgent({
      name: 'kit-experiences',
      model: kitModel(scripts.picker('find_experiences')),
      tools: [findExperiences],
    }),
  ],
})

const scheduleMeeting = defineTool({
  name: 'schedule_meeting',
  description: 'Books a meeting at a time that the person picks.',
  input: meeting,
  async execute({ topic, attendee }, ctx) {
    const answer = await ctx.interrupt({ message: `When is "${topic}"?`, metadata: { topic, attendee } })
    return booked(answer.status === 'resolved' ? answer.payload : undefined)
  },
})

const interrupt = defineAgent({
  name: 'kit-interrupt',
  instructions: 'Book meetings with the tool schedule_meeting.',
  model: kitModel(scripts.scheduler),
  tools: [scheduleMeeting],
})

const errorFlow = defineAgent({
  name: 'kit-error_flow',
  instructions: () => {
    throw new Error('Intentional error, for the log alone.')
  },
  model: kitModel(scripts.chat),
})

const searchFlights = defineTool({
  ...{ name: 'search_flights', description: 'Shows flights.', input: flightList, execute: showFlights },
})
const searchHotels = defineTool({
  ...{ name: 'search_hotels', description: 'Shows hotels.', input: hotelList, execute: showHotels },
})

const a2uiFixedSchema = defineAgent({
  name: 'kit-a2ui_fixed_schema',
  model: kitModel(scripts.searcher),
  tools: [searchFlights, searchHotels],
})

/** Two pages show what a model draws: one of them what happens when it makes mistakes. */
function designer(name: string) {
  const model = kitModel(scripts.drawer(hotelCards))
  return defineAgent({ name, model: kitModel(scripts.designer), tools: [a2uiTool({ model })] })
}

const drawing = [a2uiFixedSchema, designer('kit-a2ui_dynamic_schema'), designer('kit-a2ui_recovery')]

export const kitAgents: readonly [Agent, ...Agent[]] = [
  agenticChat,
  ...[agenticChatReasoning, agenticChatMultimodal, backendToolRendering],
  ...[toolBasedGenerativeUi, humanInTheLoop, agenticGenerativeUi, sharedState, predictiveStateUpdates],
  ...[subgraphs, interrupt, errorFlow, ...drawing.map(withA2ui)],
]
