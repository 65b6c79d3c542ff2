/** The pages of the Dojo on agents of Google ADK. */
import { FunctionTool, LlmAgent, START, Workflow } from '@google/adk'
import type { Agent } from 'millrace'
import { withA2ui } from 'millrace/a2ui'
import { a2uiTool, fromAdk, type AdkOptions } from 'millrace/adk'
import { z } from 'zod'
import { adkModel, type Script } from './models.js'
import * as scripts from './scripts.js'
import { booked, cookbook, meeting, page, place, plan, weatherIn, work } from './shapes.js'
import { flightList, hotelCards, hotelList, showFlights, showHotels } from './surfaces.js'
import { chosen, experiences, flightChoice, hotelChoice, type Choice } from './travel.js'

type LlmOptions = ConstructorParameters<typeof LlmAgent>[0]

/** An agent of ADK, by the name of its page. */
function served(
  feature: string,
  script: Script,
  { predictState, ...llm }: Partial<LlmOptions> & Pick<AdkOptions, 'predictState'> = {},
): Agent {
  const agent = new LlmAgent({ name: feature, model: adkModel(script), ...llm })
  return fromAdk(agent, { name: `adk-${feature}`, ...(predictState && { predictState }) })
}

const getWeather = new FunctionTool({
  name: 'get_weather',
  description: 'Tells the weather at a place.',
  parameters: place,
  execute: ({ location }) => weatherIn(location),
})

const doSteps = new FunctionTool({
  name: 'generate_task_steps_generative_ui',
  description: 'Does the steps of a task.',
  parameters: plan,
  async execute({ steps }, context) {
    for await (const all of work(steps)) context?.state.set('steps', all)
    return 'All steps are done.'
  },
})

const writeRecipe = new FunctionTool({
  name: 'generate_recipe',
  description: 'Shows a recipe. It replaces the one that was shown.',
  parameters: cookbook,
  execute({ recipe }, context) {
    context?.state.set('recipe', recipe)
    return 'The recipe is shown.'
  },
})

const writeDocument = new FunctionTool({
  name: 'write_document_local',
  description: 'Writes the whole document, in Markdown.',
  parameters: page,
  execute({ document }, context) {
    context?.state.set('document', document)
    return 'The document is written.'
  },
})

/** An agent that lets the person choose: it asks for a confirmation, with the options as its payload. */
function pickerAgent(choice: Choice, key: 'flight' | 'hotel') {
  const pick = new FunctionTool({
    name: `pick_${key}`,
    description: `Lets the person choose a ${key}.`,
    parameters: z.object({}),
    execute(_, context) {
      const asked = context?.toolConfirmation
      if (!asked) {
        context?.state.set('active_agent', choice.agent)
        context?.state.set(choice.agent, choice.options)
        context?.requestConfirmation({ hint: choice.message, payload: choice })
        return 'The person is asked.'
      }
      const option = chosen(asked.payload)
      const itinerary = context.state.get<object>('itinerary') ?? {}
      context.state.set('itinerary', { ...itinerary, [key]: option })
      return `You take ${String(option.airline ?? option.name)}.`
    },
  })
  return new LlmAgent({ name: choice.agent, model: adkModel(scripts.picker(`pick_${key}`)), tools: [pick] })
}

const findExperiences = new FunctionTool({
  name: 'find_experiences',
  description: 'Finds restaurants and things to do.',
  parameters: z.object({}),
  execute(_, context) {
    context?.state.set('active_agent', 'experiences')
    context?.state.set('experiences', experiences)
    return 'There are wonderful experiences: Pier 39 and Tartine Bakery.'
  },
})

const experiencesAgent = new LlmAgent({
  name: 'experiences',
  model: adkModel(scripts.picker('find_experiences')),
  tools: [findExperiences],
})

const travel = new Workflow({
  name: 'subgraphs',
  edges: [[START, pickerAgent(flightChoice, 'flight'), pickerAgent(hotelChoice, 'hotel'), experiencesAgent]],
})

const scheduleMeeting = new FunctionTool({
  name: 'schedule_meeting',
  description: 'Books a meeting at a time that the person picks.',
  parameters: meeting,
  execute({ topic, attendee }, context) {
    if (context?.toolConfirmation) return booked(context.toolConfirmation.payload)
    context?.requestConfirmation({ hint: `When is "${topic}"?`, payload: { topic, attendee } })
    return 'The person is asked.'
  },
})

const searchFlights = new FunctionTool({
  ...{ name: 'search_flights', description: 'Shows flights.', parameters: flightList, execute: showFlights },
})
const searchHotels = new FunctionTool({
  ...{ name: 'search_hotels', description: 'Shows hotels.', parameters: hotelList, execute: showHotels },
})

/** A model draws with the tool `generate_a2ui`. */
const draws = { tools: [a2uiTool({ model: adkModel(scripts.drawer(hotelCards, true)) })] }

export const adkAgents: readonly Agent[] = [
  served('agentic_chat', scripts.chat, { tools: [getWeather] }),
  served('agentic_chat_reasoning', scripts.reasoning),
  served('agentic_chat_multimodal', scripts.multimodal),
  served('backend_tool_rendering', scripts.weather, { tools: [getWeather] }),
  // The pages have the tools `generate_haiku` and `generate_task_steps`.
  served('tool_based_generative_ui', scripts.haiku, { instruction: 'Write with generate_haiku.' }),
  served('human_in_the_loop', scripts.planner('generate_task_steps'), {
    instruction: 'Plan with the tool generate_task_steps. Then do only the steps that are left.',
  }),
  served('agentic_generative_ui', scripts.worker, { tools: [doSteps] }),
  served('shared_state', scripts.cook, {
    instruction: ({ state }) => `Help with this recipe: ${JSON.stringify(state.get('recipe') ?? null)}`,
    tools: [writeRecipe],
  }),
  served('predictive_state_updates', scripts.writer, {
    instruction: ({ state }) => `Write with write_document_local. So far: ${String(state.get('document'))}`,
    tools: [writeDocument],
    predictState: [{ stateKey: 'document', tool: 'write_document_local', toolArgument: 'document' }],
  }),
  fromAdk(travel, { name: 'adk-subgraphs' }),
  served('interrupt', scripts.scheduler, { tools: [scheduleMeeting] }),
  served('error_flow', scripts.chat, {
    instruction: () => {
      throw new Error('Intentional error, for the log alone.')
    },
  }),
  ...[
    served('a2ui_fixed_schema', scripts.searcher, { tools: [searchFlights, searchHotels] }),
    served('a2ui_dynamic_schema', scripts.designer, draws),
    served('a2ui_recovery', scripts.designer, draws),
  ].map(withA2ui),
]
