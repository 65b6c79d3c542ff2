import { describe, expect, it } from 'vitest'
import { expectConversation, patience, say, type FrontEnd } from './front-end.js'
import { useRig, type WiredRig } from './rig.js'
import {
  testAskAgain,
  testClientTools,
  testInterrupts,
  testReconnect,
  testReload,
  testState,
} from './suite.js'

/** What our agent adds to a front end of somebody else. */
function testOwnAgent(frontEnd: FrontEnd, rig: WiredRig): void {
  testReload(frontEnd, rig)
  testReconnect(frontEnd, rig)

  it('shows each word once when the connection breaks, and the rest of the answer', async () => {
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    let returns = 0
    page.on('request', (request) => {
      if (request.url().endsWith('/connect') && request.headers()['last-event-id']) returns++
    })
    rig.drop()
    rig.countOn()
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One, two,'])
    rig.drop()
    rig.countOn()
    const counted = ['user: Count.', 'assistant: One, two, three.']
    await expectConversation(frontEnd, page, counted)
    expect(returns).toBeGreaterThanOrEqual(2)
    await say(frontEnd, page, 'Hi')
    await expectConversation(frontEnd, page, [...counted, 'user: Hi', 'assistant: You said: Hi'])
  })

  it('stops the model on the server at once, after a reload too, and takes the next message', async () => {
    const stops = rig.stops()
    const page = await rig.open('chat')
    await say(frontEnd, page, 'Count.')
    await expectConversation(frontEnd, page, ['user: Count.', 'assistant: One,'])
    await frontEnd.stop(page).click()
    await expect.poll(() => rig.stops(), patience).toBe(stops + 1)
    await say(frontEnd, page, 'Count.')
    const twice = ['user: Count.', 'assistant: One,', 'user: Count.', 'assistant: One,']
    await expectConversation(frontEnd, page, twice)
    await page.reload()
    await expectConversation(frontEnd, page, twice)
    await frontEnd.stop(page).click()
    await expect.poll(() => rig.stops(), patience).toBe(stops + 2)
    await say(frontEnd, page, 'Hi')
    await expectConversation(frontEnd, page, [...twice, 'user: Hi', 'assistant: You said: Hi'])
    // Nobody had to wait for a run that was left alone.
    expect(rig.abandoned()).toBe(0)
    expect(await page.locator('[data-error]').count()).toBe(0)
  })
}

const lines = {
  message: '[data-testid=user], [data-testid=assistant]',
  user: '[data-testid=user]',
  greeting: [],
  query: { own: '' },
  connects: true,
}

describe('CopilotKit with our agent in the page', () => {
  const copilotKit: FrontEnd = {
    ...lines,
    name: 'own-copilotkit',
    page: 'copilotkit-v2',
    input: (page) => page.getByTestId('copilot-chat-textarea'),
    send: (page) =>
      page.getByTestId('copilot-send-button').filter({ has: page.locator('svg.lucide-arrow-up') }),
    stop: (page) => page.getByTestId('copilot-send-button'),
    message: '.copilotKitMessage',
    user: '.copilotKitUserMessage',
  }
  const rig = useRig(copilotKit)
  testOwnAgent(copilotKit, rig)
  testClientTools(copilotKit, rig)
  testState(copilotKit, rig)
  testInterrupts(copilotKit, rig)
  testAskAgain(copilotKit, rig)
})

describe('assistant-ui with our agent', () => {
  const assistantUi: FrontEnd = {
    ...lines,
    name: 'own-assistant-ui',
    page: 'assistant-ui',
    input: (page) => page.getByRole('textbox'),
    send: (page) => page.getByRole('button', { name: 'Send' }),
    stop: (page) => page.getByRole('button', { name: 'Stop' }),
  }
  const rig = useRig(assistantUi)
  testOwnAgent(assistantUi, rig)
  testState(assistantUi, rig)
  testAskAgain(assistantUi, rig)
})

describe('TanStack AI with our agent as its connection', () => {
  const tanstack: FrontEnd = {
    ...lines,
    name: 'own-tanstack',
    page: 'tanstack',
    input: (page) => page.locator('textarea'),
    send: (page) => page.getByRole('button', { name: 'Send' }),
    stop: (page) => page.getByRole('button', { name: 'Stop' }),
  }
  const rig = useRig(tanstack)
  testOwnAgent(tanstack, rig)
})
