/**
 * The feature pages of AG-UI's Dojo on three runtimes: the kit, Google ADK and LangGraph. This program talks to each agent as its page
 * does, with a stock HttpAgent. `start.ts` serves them for pages in a browser.
 */
import assert from 'node:assert/strict'
import { HttpAgent, type RunAgentParameters } from '@ag-ui/client'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'

process.env.DOJO_STEP_MS = '1'
const { agents } = await import('./agents.js')
const log = { debug: ignore, info: ignore, warn: ignore, error: ignore }
const serving = await serve(createServer({ agents, log }), { port: 0 })

function ignore(): void {
  // The page `error_flow` fails on purpose.
}

/** A page: its client, and what it has seen. */
function open(agent: string) {
  const client = new HttpAgent({ url: `${serving.url}/agents/${agent}/run`, threadId: agent })
  const states: unknown[] = []
  const seen: string[] = []
  client.subscribe({
    onEvent: ({ event }) => void seen.push(event.type),
    onStateChanged: ({ state }) => void states.push(structuredClone(state)),
  })
  return {
    ...{ client, states, seen },
    async say(content: string | object[], parameters: RunAgentParameters = {}) {
      client.addMessage({ id: crypto.randomUUID(), role: 'user', content } as never)
      await client.runAgent(parameters)
    },
    /** The surface that was drawn last. */
    surface: () => JSON.stringify(client.messages.findLast(({ role }) => role === 'activity')),
    /** The text that was said last. */
    last: () => JSON.stringify(client.messages.findLast(({ role }) => role === 'assistant')?.content ?? ''),
    /** Answers the client tool that was called last. */
    async answerCall(content: unknown, parameters: RunAgentParameters = {}) {
      const { id: toolCallId } = this.call()
      client.addMessage({
        id: crypto.randomUUID(),
        role: 'tool',
        toolCallId,
        content: JSON.stringify(content),
      })
      await client.runAgent(parameters)
    },
    call() {
      const last = client.messages.at(-1)
      const [call] = (last?.role === 'assistant' ? last.toolCalls : undefined) ?? []
      assert.ok(call, `${agent}: no tool was called`)
      return { id: call.id, name: call.function.name, args: JSON.parse(call.function.arguments) as unknown }
    },
    async answer(payload: unknown) {
      const resume = client.pendingInterrupts.map(({ id }) => ({
        interruptId: id,
        status: 'resolved' as const,
        payload,
      }))
      assert.equal(resume.length, 1, `${agent}: one interrupt`)
      await client.runAgent({ resume })
    },
  }
}

function tool(name: string) {
  return [{ name, description: name, parameters: { type: 'object', properties: {} } }]
}

// Pages send the components that they can draw.
const hotelCard = { required: ['name', 'location', 'rating', 'pricePerNight'] }
const catalog = {
  catalogId: 'https://a2ui.org/demos/dojo/dynamic_catalog.json',
  components: { Row: { required: ['children'] }, HotelCard: hotelCard },
}
const canDraw = {
  context: [
    {
      description:
        'A2UI Component Schema — available components for generating UI surfaces. Use these component names and properties when creating A2UI operations.',
      value: JSON.stringify(catalog),
    },
  ],
}

const steps = [{ description: 'Fly to Mars', status: 'enabled' }]

for (const runtime of ['kit', 'adk', 'langgraph']) {
  const chat = open(`${runtime}-agentic_chat`)
  const tools = tool('change_background')
  await chat.say('Hello', { tools })
  assert.match(chat.last(), /You said: Hello/)
  await chat.say('Change the background color to blue', { tools })
  assert.deepEqual(chat.call(), {
    id: chat.call().id,
    name: 'change_background',
    args: { background: 'blue' },
  })
  await chat.answerCall({ status: 'success' }, { tools })
  assert.match(chat.last(), /Done/)
  await chat.say('What is my name?', { context: [{ description: 'Name of the user', value: 'Bob' }] })
  assert.match(chat.last(), /Bob/)

  const thinking = open(`${runtime}-agentic_chat_reasoning`)
  await thinking.say('What is the best car to buy?')
  assert.ok(thinking.seen.includes('REASONING_MESSAGE_CONTENT'))

  const looking = open(`${runtime}-agentic_chat_multimodal`)
  const source = { type: 'data', value: 'iVBORw0KGgo=', mimeType: 'image/png' }
  await looking.say([
    { type: 'text', text: 'What is this?' },
    { type: 'image', source },
  ])
  assert.match(looking.last(), /I see the image/)

  const weather = open(`${runtime}-backend_tool_rendering`)
  await weather.say('What is the weather in Paris')
  const result = weather.client.messages.find(({ role }) => role === 'tool')
  assert.match(JSON.stringify(result), /sunny/)

  const poet = open(`${runtime}-tool_based_generative_ui`)
  await poet.say('Write me a haiku.', { tools: tool('generate_haiku') })
  assert.equal(poet.call().name, 'generate_haiku')

  const planner = open(`${runtime}-human_in_the_loop`)
  await planner.say('Please plan a trip to mars.', { tools: tool('generate_task_steps') })
  // The graph asks by itself; the others call the tool of the page.
  if (runtime === 'langgraph') await planner.answer('Fly to Mars')
  else await planner.answerCall({ accepted: true, steps })
  assert.match(planner.last(), /Fly to Mars/)

  const worker = open(`${runtime}-agentic_generative_ui`)
  await worker.say('Please plan a trip to mars.')
  const done = worker.states.map((state) => JSON.stringify(state).split('completed').length - 1)
  for (const count of [0, 1, 2, 3]) assert.ok(done.includes(count), `${runtime}: ${count} steps were done`)

  const cook = open(`${runtime}-shared_state`)
  cook.client.setState({ recipe: { ingredients: [{ name: 'Carrots', amount: '3' }] } })
  await cook.say('Give me all the ingredients')
  assert.match(cook.last(), /Carrots/)
  await cook.say('A pasta recipe, please')
  assert.match(JSON.stringify(cook.client.state), /Pasta with Garlic/)

  const writer = open(`${runtime}-predictive_state_updates`)
  await writer.say('A story of a dragon called Ann')
  assert.match(JSON.stringify(writer.client.state), /Ann/)
  assert.equal(writer.call().name, 'confirm_changes')
  await writer.answerCall({ accepted: true })

  const travel = open(`${runtime}-subgraphs`)
  await travel.say('Plan a trip to San Francisco')
  const yes = (payload: unknown) => (runtime === 'adk' ? { approved: true, payload } : payload)
  await travel.answer(yes({ airline: 'KLM' }))
  await travel.answer(yes({ name: 'Hotel Zoe' }))
  assert.deepEqual((travel.client.state as { itinerary: unknown }).itinerary, {
    flight: { airline: 'KLM' },
    hotel: { name: 'Hotel Zoe' },
  })
  assert.match(travel.last(), /experiences/)

  const meeting = open(`${runtime}-interrupt`)
  await meeting.say('Book an intro call.')
  await meeting.answer(yes({ chosen_label: 'Monday, 10:00' }))
  assert.match(meeting.last(), /Monday, 10:00/)

  const searching = open(`${runtime}-a2ui_fixed_schema`)
  await searching.say('Find flights to SFO.')
  assert.match(searching.surface(), /flight-search-results.*KL 605/)
  const userAction = {
    name: 'book_flight',
    surfaceId: 'flight-search-results',
    context: { flightNumber: 'KL 605' },
  }
  await searching.client.runAgent({ forwardedProps: { a2uiAction: { userAction } } })
  assert.match(searching.last(), /Booked: .*KL 605/)

  const drawing = open(`${runtime}-a2ui_dynamic_schema`)
  await drawing.say('Compare hotels.', canDraw)
  assert.match(drawing.surface(), /hotel-comparison.*The Ritz/)

  const recovering = open(`${runtime}-a2ui_recovery`)
  await recovering.say('Compare luxury hotels.', canDraw)
  assert.match(recovering.surface(), /hotel-comparison.*The Ritz/)
  await recovering.say('Compare broken hotels.', canDraw)
  assert.match(recovering.surface(), /"status":"failed"/)

  const failing = open(`${runtime}-error_flow`)
  await failing.say('Trigger an error')
  assert.equal(failing.seen.at(-1), 'RUN_ERROR')
  console.log(`${runtime}: all pages work`)
}
await serving.close()
