/** The agents of the application: pages reach them at `/api/agents/{name}`. */
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createConcierge } from '../../../concierge'

async function createAgentServer() {
  const folder = process.env.THREADS ?? '.millrace'
  mkdirSync(folder, { recursive: true })
  return createServer({
    agents: [await createConcierge()],
    store: await createSqliteStore({ path: join(folder, 'threads.db') }),
    basePath: '/api',
    // With the users of your application: `identify: (request) => ({ user: ... })`. Without it, only this machine is served.
  })
}

async function handle(request) {
  // One for each process: in development Next evaluates this file again whenever it changes.
  globalThis.agentServer ??= createAgentServer()
  return (await globalThis.agentServer).fetch(request)
}

export { handle as DELETE, handle as GET, handle as PATCH, handle as POST }
