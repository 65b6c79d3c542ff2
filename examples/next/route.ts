/**
 * Agents in a Next.js application: this file is its `app/api/agents/[[...path]]/route.ts`. The pages of the application reach
 * the agent at `/api/agents/storyteller/run`.
 */
import { defineAgent } from 'millrace'
import { modelFromEnv } from 'millrace/models'
import { createServer, type Server } from 'millrace/server'

/** One server for each process: in development Next evaluates this file again whenever it changes. */
const kept = globalThis as { agentServer?: Promise<Server> }

async function createAgentServer(): Promise<Server> {
  const storyteller = defineAgent({ name: 'storyteller', model: await modelFromEnv() })
  return createServer({
    agents: [storyteller],
    basePath: '/api',
    // With the users of your application. Without it, only this machine is served.
    identify: (request) => (request.headers.get('cookie') === 'session=ada' ? { user: 'ada' } : undefined),
  })
}

async function handle(request: Request): Promise<Response> {
  kept.agentServer ??= createAgentServer()
  return (await kept.agentServer).fetch(request)
}

export { handle as GET, handle as POST, handle as PATCH, handle as DELETE }
