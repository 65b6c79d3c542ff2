/** The pages of the Dojo on graphs of LangGraph. */
import { AIMessage, SystemMessage, ToolMessage } from '@langchain/core/messages'
import { tool, type ToolRunnableConfig } from '@langchain/core/tools'
import {
  Annotation,
  Command,
  interrupt,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { createAgent, createMiddleware, type AgentMiddleware } from 'langchain'
import type { Agent } from 'millrace'
import { withA2ui } from 'millrace/a2ui'
import {
  a2uiTool,
  clientContext,
  clientTools,
  emitState,
  fromLangGraph,
  type LangGraphOptions,
} from 'millrace/langgraph'
import { z } from 'zod'
import { graphModel, type Script } from './models.js'
import * as scripts from './scripts.js'
import { booked, cookbook, meeting, page, place, plan, weatherIn, work } from './shapes.js'
import { flightList, hotelCards, hotelList, showFlights, showHotels } from './surfaces.js'
import { chosen, experiences, flightChoice, hotelChoice, type Choice } from './travel.js'

type AgentOptions = Parameters<typeof createAgent>[0]

/** An agent of LangChain, by the name of its page. It may use the tools of the page. */
function served(
  feature: string,
  script: Script,
  {
    middleware = [],
    predictState,
    ...options
  }: Partial<AgentOptions> & Pick<LangGraphOptions, 'predictState'> = {},
): Agent {
  const all: readonly AgentMiddleware[] = [...middleware, clientTools(), clientContext()]
  const agent = createAgent({
    ...{ model: graphModel(script), checkpointer: new MemorySaver(), middleware: all },
    ...options,
  })
  return fromLangGraph(agent.graph, { name: `langgraph-${feature}`, ...(predictState && { predictState }) })
}

const getWeather = tool(({ location }) => weatherIn(location), {
  ...{ name: 'get_weather', description: 'Tells the weather at a place.', schema: place },
})

/** The end of a tool that changes the state. */
function changed(state: object, said: string, { toolCall }: ToolRunnableConfig) {
  const result = new ToolMessage({ content: said, tool_call_id: toolCall?.id ?? '' })
  return new Command({ update: { ...state, messages: [result] } })
}

const doSteps = tool(
  async ({ steps }, config) => {
    let last = steps
    for await (const all of work(steps)) await emitState({ steps: (last = [...all]) })
    return changed({ steps: last }, 'All steps are done.', config)
  },
  { name: 'generate_task_steps_generative_ui', description: 'Does the steps of a task.', schema: plan },
)

const writeRecipe = tool(({ recipe }, config) => changed({ recipe }, 'The recipe is shown.', config), {
  ...{ name: 'generate_recipe', description: 'Shows a recipe.', schema: cookbook },
})

const writeDocument = tool(
  ({ document }, config) => changed({ document }, 'The document is written.', config),
  { name: 'write_document_local', description: 'Writes the whole document, in Markdown.', schema: page },
)

/** State that page and graph share, and that the model reads. */
function sharing(shape: z.ZodRawShape) {
  return createMiddleware({
    name: 'sharing',
    stateSchema: z.object(shape),
    wrapModelCall: (request, handler) =>
      handler({
        ...request,
        systemPrompt: `The state: ${JSON.stringify({ ...request.state, messages: undefined })}`,
      }),
  })
}

const PlanState = Annotation.Root({ ...MessagesAnnotation.spec, steps: Annotation<unknown> })

const planSteps = tool(() => '', {
  ...{ name: 'plan_execution_steps', description: 'Plans the steps of a task.', schema: plan },
})

/** The graph itself asks the person which steps to do. */
const humanInTheLoop = new StateGraph(PlanState)
  .addNode('chat', async ({ messages }) => {
    const model = graphModel(scripts.planner('plan_execution_steps')).bindTools([planSteps])
    return { messages: [await model.invoke(messages)] }
  })
  .addNode('ask', ({ messages }) => {
    const [call] = (messages.at(-1) as AIMessage).tool_calls ?? []
    const { steps } = plan.parse(call?.args)
    const answer: unknown = interrupt({ steps })
    return {
      steps,
      messages: [new ToolMessage({ content: String(answer), tool_call_id: call?.id ?? '' })],
    }
  })
  .addEdge(START, 'chat')
  .addConditionalEdges('chat', ({ messages }) =>
    (messages.at(-1) as AIMessage).tool_calls?.length ? 'ask' : '__end__',
  )
  .addEdge('ask', 'chat')
  .compile({ checkpointer: new MemorySaver() })

const TravelState = Annotation.Root({
  ...MessagesAnnotation.spec,
  flights: Annotation<unknown>,
  hotels: Annotation<unknown>,
  experiences: Annotation<unknown>,
  active_agent: Annotation<string>,
  itinerary: Annotation<object>({ reducer: (left, right) => ({ ...left, ...right }), default: () => ({}) }),
})

/** A graph inside the graph: it lets the person choose. */
function pickerGraph(choice: Choice, key: 'flight' | 'hotel') {
  return new StateGraph(TravelState)
    .addNode('pick', () => {
      const option = chosen(interrupt(choice))
      const said = new AIMessage(`You take ${String(option.airline ?? option.name)}.`)
      return { itinerary: { [key]: option }, messages: [said] }
    })
    .addEdge(START, 'pick')
    .compile()
}

/** Shows what there is to choose from, before the graph inside asks. */
function found({ agent, options }: Choice) {
  return () => ({ active_agent: agent, [agent]: options })
}

const subgraphs = new StateGraph(TravelState)
  .addNode('find_flights', found(flightChoice))
  .addNode('flights_agent', pickerGraph(flightChoice, 'flight'))
  .addNode('find_hotels', found(hotelChoice))
  .addNode('hotels_agent', pickerGraph(hotelChoice, 'hotel'))
  .addNode('experiences_agent', async ({ messages }) => {
    const model = graphModel(() => ({ text: 'There are wonderful experiences: Pier 39 and Tartine Bakery.' }))
    const prompt = new SystemMessage(
      `You are the experiences agent. Say what there is: ${JSON.stringify(experiences)}`,
    )
    const said = await model.invoke([prompt, ...messages])
    return { active_agent: 'experiences', experiences, messages: [said] }
  })
  .addEdge(START, 'find_flights')
  .addEdge('find_flights', 'flights_agent')
  .addEdge('flights_agent', 'find_hotels')
  .addEdge('find_hotels', 'hotels_agent')
  .addEdge('hotels_agent', 'experiences_agent')
  .compile({ checkpointer: new MemorySaver() })

const scheduleMeeting = tool((suspendPayload) => booked(interrupt({ suspendPayload })), {
  ...{
    name: 'schedule_meeting',
    description: 'Books a meeting at a time that the person picks.',
    schema: meeting,
  },
})

const errorFlow = new StateGraph(MessagesAnnotation)
  .addNode('fail', () => {
    throw new Error('Intentional error, for the log alone.')
  })
  .addEdge(START, 'fail')
  .compile()

const searchFlights = tool((found) => JSON.stringify(showFlights(found)), {
  ...{ name: 'search_flights', description: 'Shows flights.', schema: flightList },
})
const searchHotels = tool((found) => JSON.stringify(showHotels(found)), {
  ...{ name: 'search_hotels', description: 'Shows hotels.', schema: hotelList },
})

/** A model draws with the tool `generate_a2ui`. */
const draws = { tools: [a2uiTool({ model: graphModel(scripts.drawer(hotelCards)) })] }

export const langGraphAgents: readonly Agent[] = [
  served('agentic_chat', scripts.chat, { tools: [getWeather] }),
  served('agentic_chat_reasoning', scripts.reasoning),
  served('agentic_chat_multimodal', scripts.multimodal),
  served('backend_tool_rendering', scripts.weather, { tools: [getWeather] }),
  // The page has the tool `generate_haiku`.
  served('tool_based_generative_ui', scripts.haiku, { systemPrompt: 'Write with generate_haiku.' }),
  fromLangGraph(humanInTheLoop, { name: 'langgraph-human_in_the_loop' }),
  served('agentic_generative_ui', scripts.worker, {
    tools: [doSteps],
    middleware: [sharing({ steps: plan.shape.steps.optional() })],
  }),
  served('shared_state', scripts.cook, {
    tools: [writeRecipe],
    middleware: [sharing({ recipe: z.unknown() })],
  }),
  served('predictive_state_updates', scripts.writer, {
    tools: [writeDocument],
    middleware: [sharing({ document: z.string().optional() })],
    predictState: [{ stateKey: 'document', tool: 'write_document_local', toolArgument: 'document' }],
  }),
  fromLangGraph(subgraphs, { name: 'langgraph-subgraphs' }),
  served('interrupt', scripts.scheduler, { tools: [scheduleMeeting] }),
  fromLangGraph(errorFlow, { name: 'langgraph-error_flow' }),
  ...[
    served('a2ui_fixed_schema', scripts.searcher, { tools: [searchFlights, searchHotels] }),
    served('a2ui_dynamic_schema', scripts.designer, draws),
    served('a2ui_recovery', scripts.designer, draws),
  ].map(withA2ui),
]
