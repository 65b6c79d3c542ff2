import type { Locator, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { useDojoRig, type DojoRig } from './dojo-rig.js'
import { expectConversation, patience, say, type FrontEnd } from './front-end.js'

const dojo: FrontEnd = {
  name: 'dojo',
  page: 'dojo',
  input: (page) => page.getByTestId('copilot-chat-textarea'),
  send: (page) =>
    page.getByTestId('copilot-send-button').filter({ has: page.locator('svg.lucide-arrow-up') }),
  stop: (page) => page.getByTestId('copilot-send-button'),
  message: '.copilotKitMessage',
  user: '.copilotKitUserMessage',
  greeting: [],
}

const runtimes = ['kit', 'adk', 'langgraph'] as const

type Runtime = (typeof runtimes)[number]
type Feature = (page: Page, runtime: Runtime, rig: DojoRig) => Promise<void>

const texts = (list: Locator) => expect.poll(() => list.allTextContents(), patience)

const features: Readonly<Record<string, Feature>> = {
  async agentic_chat(page) {
    await say(dojo, page, 'What is my name?')
    await expectConversation(dojo, page, ['user: What is my name?', 'assistant: You are Bob.'])
    await say(dojo, page, 'Change the background color to pink')
    await texts(page.getByTestId('background')).toEqual(['pink'])
    await page.getByText('Done.', { exact: true }).waitFor()
  },

  async agentic_chat_reasoning(page) {
    await say(dojo, page, 'What is the best car to buy?')
    await page.getByText(/Thought for/).waitFor()
    await page.getByText(/My recommendations/).waitFor()
  },

  async agentic_chat_multimodal(page) {
    await page
      .locator('input[type=file]')
      .first()
      .setInputFiles({ name: 'dot.png', mimeType: 'image/png', buffer: Buffer.from(dot, 'base64') })
    await page.locator('img').first().waitFor()
    await say(dojo, page, 'What do you see?')
    await page.getByText('I see the image that you sent.').waitFor()
  },

  async backend_tool_rendering(page) {
    await say(dojo, page, 'What is the weather in Paris')
    await texts(page.locator('[data-tool=get_weather]')).toEqual(['Paris: 20 °C, sunny'])
    await page.getByText('Done.', { exact: true }).waitFor()
  },

  async tool_based_generative_ui(page) {
    await say(dojo, page, 'Write me a haiku.')
    await texts(page.getByTestId('haikus').locator('li')).toEqual([
      'The old pond / a frog jumps in / the sound of water',
    ])
    await texts(page.locator('[data-tool=haiku]')).toEqual(['古池や 蛙飛び込む 水の音'])
    await expectConversation(dojo, page, ['user: Write me a haiku.'])
    // The thread goes on, although nothing was said about the result.
    await say(dojo, page, 'Another one.')
    await expect.poll(() => page.getByTestId('haikus').locator('li').count(), patience).toBe(2)
  },

  async human_in_the_loop(page) {
    await say(dojo, page, 'Please plan a trip to mars.')
    await page.getByLabel('Pack the bags').click()
    await page.getByRole('button', { name: 'Perform' }).click()
    await page.getByText(/^Your steps:/).waitFor()
    const answer = await page.getByText(/^Your steps:/).textContent()
    expect(answer).toContain('Fly to Mars')
    expect(answer).not.toContain('Pack the bags')
    await expect.poll(() => page.getByTestId('steps').count()).toBe(0)
  },

  async agentic_generative_ui(page) {
    await say(dojo, page, 'Please plan a trip to mars.')
    await texts(page.getByTestId('steps').locator('li')).toEqual([
      ...['Pack the bags: completed', 'Fly to Mars: completed', 'Plant a flag: completed'],
    ])
    await page.getByText('All steps are done.').waitFor()
    await texts(page.getByTestId('seen')).toEqual(['0 1 2 3'])
  },

  async shared_state(page) {
    await page.getByRole('button', { name: 'Add potatoes' }).click()
    await say(dojo, page, 'Give me all the ingredients')
    await page.getByText('You have: Carrots, Potatoes.').waitFor()
    await say(dojo, page, 'Create an Italian pasta recipe.')
    await texts(page.getByTestId('title')).toEqual(['Pasta with Garlic'])
    await texts(page.getByTestId('ingredients').locator('li')).toEqual(['Pasta: 400 g'])
  },

  async predictive_state_updates(page) {
    const [document, confirm] = [page.getByTestId('document'), page.getByTestId('confirm')]
    await say(dojo, page, 'Please write a story about a dragon called Atlantis')
    await confirm.getByRole('button', { name: 'Confirm' }).click()
    await expect.poll(() => confirm.count(), patience).toBe(0)
    await texts(document).toEqual([expect.stringContaining('name was Atlantis')])
    expect(Number(await page.getByTestId('shown').textContent())).toBeGreaterThan(0)
    await say(dojo, page, 'Change the name to Lola')
    await texts(document).toEqual([expect.stringContaining('name was Lola')])
    await confirm.getByRole('button', { name: 'Reject' }).click()
    await expect.poll(() => confirm.count(), patience).toBe(0)
    await texts(document).toEqual([expect.stringContaining('name was Atlantis')])
    // What was rejected is not in the state that the agent has next.
    await say(dojo, page, 'Change the name to Ann')
    await texts(document).toEqual([expect.stringContaining('name was Ann')])
  },

  async subgraphs(page) {
    const [options, itinerary] = [page.getByTestId('options'), page.getByTestId('itinerary')]
    await say(dojo, page, 'Plan a trip to San Francisco.')
    await texts(options.getByRole('button')).toEqual(['KLM', 'United'])
    await texts(options.locator('[data-recommended=true]')).toEqual(['KLM'])
    await texts(itinerary).toEqual([expect.stringContaining('flights |')])
    await options.getByRole('button', { name: 'United' }).click()
    await texts(options.getByRole('button')).toEqual(['Hotel Zephyr', 'The Ritz-Carlton', 'Hotel Zoe'])
    await texts(itinerary).toEqual([expect.stringContaining('hotels | United |')])
    await options.getByRole('button', { name: 'Hotel Zoe' }).click()
    await texts(itinerary).toEqual(['experiences | United | Hotel Zoe | 2'])
    await page.getByText(/wonderful experiences/).waitFor()
    expect(await options.count()).toBe(0)
  },

  async interrupt(page) {
    await say(dojo, page, 'Book an intro call.')
    const picker = page.getByTestId('picker')
    await picker.getByText('Intro call with the sales team').waitFor()
    await picker.getByRole('button', { name: 'Monday' }).click()
    await page.getByText('The meeting is booked: Monday, 10:00.').waitFor()
    expect(await picker.count()).toBe(0)
  },

  async a2ui_fixed_schema(page) {
    await say(dojo, page, 'Find flights from AMS to SFO.')
    const flights = page.locator('[data-surface-id=flight-search-results] [data-card=flight]')
    await texts(flights).toEqual(['KL 605: KLM, $650'])
    await page.getByText('Here you are.').waitFor()
    await flights.click()
    await page.getByText(/^Booked: .*KL 605/).waitFor()
    await say(dojo, page, 'Find hotels in Paris.')
    await texts(page.locator('[data-surface-id=hotel-search-results] [data-card=hotel]')).toEqual([
      ...['The Ritz: Paris, $450', 'Boutique Loft: Lisbon, $320'],
    ])
    expect(await flights.count()).toBe(1)
  },

  async a2ui_dynamic_schema(page) {
    await say(dojo, page, 'Compare hotels.')
    const hotels = page.locator('[data-surface-id=hotel-comparison] [data-card=hotel]')
    await texts(hotels).toEqual(['The Ritz: Paris, $450', 'Boutique Loft: Lisbon, $320'])
    await page.getByText('Here you are.').waitFor()
    await hotels.first().click()
    await page.getByText(/^Booked: .*The Ritz/).waitFor()
  },

  async a2ui_recovery(page) {
    await say(dojo, page, 'Compare broken hotels.')
    await page.getByText("Couldn't generate the UI").first().waitFor()
    await page.getByText('I could not draw it.').waitFor()
    const hotels = page.locator('[data-surface-id=hotel-comparison] [data-card=hotel]')
    expect(await hotels.count()).toBe(0)
    await say(dojo, page, 'Compare luxury hotels.')
    await texts(hotels).toEqual(['The Ritz: Paris, $450', 'Boutique Loft: Lisbon, $320'])
  },

  async error_flow(page, _, rig) {
    rig.expectReports(/The agent failed|AGENT_ERROR/)
    const errors = page.getByTestId('errors').locator('li')
    await say(dojo, page, 'trigger error')
    await texts(errors).toEqual(['AGENT_ERROR: The agent failed.'])
    await say(dojo, page, 'trigger error again')
    await expect.poll(() => errors.count(), patience).toBe(2)
    await expectConversation(dojo, page, ['user: trigger error', 'user: trigger error again'])
  },
}

const dot = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

const names = Object.keys(features)
const rig = useDojoRig(runtimes.flatMap((runtime) => names.map((name) => `${runtime}-${name}`)))

for (const runtime of runtimes)
  describe(`the pages of the Dojo on ${runtime}`, () => {
    it.each(Object.entries(features))('work straight on the server: %s', async (name, use) => {
      await use(await rig.open(`${runtime}-${name}`), runtime, rig)
    })

    it.each(['human_in_the_loop', 'predictive_state_updates', 'subgraphs', 'a2ui_fixed_schema'])(
      "work through CopilotKit's runtime with a stock HttpAgent: %s",
      async (name) => {
        const page = await rig.open(`${runtime}-${name}`, { runtime: true })
        await features[name]?.(page, runtime, rig)
      },
    )
  })
