import { expect, it } from 'vitest'
import { expectConversation, say, type FrontEnd } from './front-end.js'
import { useRig } from './rig.js'
import {
  testAskAgain,
  testChat,
  testClientTools,
  testImport,
  testInterrupts,
  testLanes,
  testReconnect,
  testReload,
  testState,
} from './suite.js'

const copilotKit: FrontEnd = {
  name: 'copilotkit-v2',
  page: 'copilotkit-v2',
  endpoint: '/v2',
  input: (page) => page.getByTestId('copilot-chat-textarea'),
  // The same button stops while a run goes on: also for the moment that a tool has which ignores that.
  send: (page) =>
    page.getByTestId('copilot-send-button').filter({ has: page.locator('svg.lucide-arrow-up') }),
  stop: (page) => page.getByTestId('copilot-send-button'),
  message: '.copilotKitMessage',
  user: '.copilotKitUserMessage',
  greeting: [],
}

const rig = useRig(copilotKit)

testChat(copilotKit, rig)
testClientTools(copilotKit, rig)
testLanes(copilotKit, rig)
testState(copilotKit, rig)
testInterrupts(copilotKit, rig)
testReload(copilotKit, rig)
testReconnect(copilotKit, rig)
testAskAgain(copilotKit, rig)
testImport(copilotKit, rig)

it('keeps a greeting that the page has put into the conversation', async () => {
  const page = await rig.open('chat')
  await page.getByRole('button', { name: 'Greet' }).click()
  const greeting = 'assistant: Hello, I am the page.'
  await expectConversation(copilotKit, page, [greeting])
  await say(copilotKit, page, 'Hi')
  await expectConversation(copilotKit, page, [greeting, 'user: Hi', 'assistant: You said: Hi'])
  await say(copilotKit, page, 'Again')
  await expectConversation(copilotKit, page, [
    ...[greeting, 'user: Hi', 'assistant: You said: Hi'],
    ...['user: Again', 'assistant: You said: Again'],
  ])
})

it('shows the stored conversation with the first answer, when the runtime has forgotten it', async () => {
  const page = await rig.open('chat')
  await say(copilotKit, page, 'Hi')
  const first = ['user: Hi', 'assistant: You said: Hi']
  await expectConversation(copilotKit, page, first)
  await rig.restartRuntime()
  const again = await rig.open('chat')
  await say(copilotKit, again, 'Again')
  await expectConversation(copilotKit, again, [...first, 'user: Again', 'assistant: You said: Again'])
})

it('leaves a tool undone when the person cancels', async () => {
  const page = await rig.open('clerk')
  await say(copilotKit, page, 'Book.')
  const asked = page.getByTestId('interrupt')
  await asked.getByRole('button', { name: 'Cancel' }).click()
  await expectConversation(copilotKit, page, ['user: Book.', 'assistant: No table.'])
  expect(await asked.count()).toBe(0)
})
