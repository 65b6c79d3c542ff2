import type { FrontEnd } from './front-end.js'
import { useRig } from './rig.js'
import { testChat, testImport, testLanes } from './suite.js'

const tanstack: FrontEnd = {
  name: 'tanstack',
  page: 'tanstack',
  input: (page) => page.locator('textarea'),
  send: (page) => page.getByRole('button', { name: 'Send' }),
  stop: (page) => page.getByRole('button', { name: 'Stop' }),
  message: '[data-testid=user], [data-testid=assistant]',
  user: '[data-testid=user]',
  // Imported with the first request, so it must survive it.
  greeting: ['assistant: Hello, I am the page.'],
}

const rig = useRig(tanstack)

// Its tools and interrupts need a dialect of its own.
testChat(tanstack, rig)
testLanes(tanstack, rig)
testImport({ ...tanstack, greeting: [] }, rig)
