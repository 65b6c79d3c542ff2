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
  name: 'copilotkit',
  page: 'copilotkit',
  endpoint: '/v1',
  input: (page) => page.getByTestId('copilot-chat-textarea'),
  send: (page) => page.getByRole('button', { name: 'Send' }),
  stop: (page) => page.getByRole('button', { name: 'Stop' }),
  message: '.copilotKitMessage',
  user: '.copilotKitUserMessage',
  greeting: ['assistant: Hello, I am the page.'],
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

it('asks what a graph asks with useLangGraphInterrupt, and the graph goes on with the answer', async () => {
  const page = await rig.open('router')
  await say(copilotKit, page, 'Send it.')
  const asked = page.getByTestId('interrupt')
  await asked.getByText('By sea or by air?', { exact: true }).waitFor()
  await asked.getByRole('button', { name: 'By sea' }).click()
  await expectConversation(copilotKit, page, ['user: Send it.', 'assistant: It goes by sea.'])
})

it('gives useLangGraphInterrupt the very value that the graph gave', async () => {
  const page = await rig.open('router')
  await say(copilotKit, page, 'Send it.')
  const value = page.getByTestId('interrupt').locator('output')
  await value.waitFor()
  expect(await value.textContent()).toBe('"By sea or by air?"')
})
