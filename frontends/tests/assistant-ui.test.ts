import { describe } from 'vitest'
import type { FrontEnd } from './front-end.js'
import { useRig, type Rig } from './rig.js'
import {
  testAskAgain,
  testChat,
  testClientTools,
  testImport,
  testInterrupts,
  testLanes,
  testReload,
  testState,
} from './suite.js'

const assistantUi: FrontEnd = {
  name: 'assistant-ui',
  page: 'assistant-ui',
  input: (page) => page.getByRole('textbox'),
  send: (page) => page.getByRole('button', { name: 'Send' }),
  stop: (page) => page.getByRole('button', { name: 'Stop' }),
  message: '[data-testid=user], [data-testid=assistant]',
  user: '[data-testid=user]',
  // Imported with the first request, so it must survive it.
  greeting: ['assistant: Hello, I am the page.'],
}

function testAll(frontEnd: FrontEnd, rig: Rig): void {
  testChat(frontEnd, rig)
  testClientTools(frontEnd, rig)
  testState(frontEnd, rig)
  testInterrupts(frontEnd, rig)
  testReload(frontEnd, rig)
  testAskAgain(frontEnd, rig)
  testImport({ ...frontEnd, greeting: [] }, rig)
}

describe('with the newest client of AG-UI', () => {
  const frontEnd = { ...assistantUi, name: 'assistant-ui-newest', query: { newest: '' } }
  const rig = useRig(frontEnd)
  testAll(frontEnd, rig)
  testLanes(frontEnd, rig)
})

describe('with a client before 1.0', () => {
  const rig = useRig(assistantUi)
  // Without lanes: of messages that are written at the same time it keeps pieces only, unless subagents are named.
  testAll(assistantUi, rig)
})
