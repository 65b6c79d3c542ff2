import { join } from 'node:path'
import { modelFromEnv } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { curlLines } from './curl-lines.mjs'
import { createDemoAgents } from './demo-agents.mjs'
import { createMixedAgent } from './demo-mixed.mjs'
import { lazyAdkAgents } from './lazy-adk-agent.mjs'
import { lazyGraphAgents } from './lazy-graph-agent.mjs'
import { identifyByToken, localUrl } from './start-options.mjs'

/** Printed for an agent that is not available, by its name. */
const missing = {
  adk: 'There is no agent of Google ADK: @google/adk is not installed. Run: npm install @google/adk',
  graph:
    'There is no agent of LangGraph: it is not installed. Run: npm install @langchain/langgraph @langchain/core',
}

const whatToTry = `  Talk         ask chat for a story; reload the page in the middle: nothing is lost
  Approve      choose approval and let it book a table; stop and start the server before you answer
  Look inside  choose mixed, four runtimes in one tree; then open its run in the Inspector and travel in time`

/** Serves the demo agents. Threads are kept in a SQLite file, and without a key the demo model answers. */
export async function startDemo({ port, host, origins, token, curl }) {
  // The page shows what happens. LOG_LEVEL=info shows runs too.
  process.env.LOG_LEVEL ??= 'warn'
  const folder = process.env.MILLRACE_DIR || '.millrace'
  const file = join(folder, 'threads.db')
  const notes = []
  const model = await modelFromEnv({ log: (line) => notes.push(line) })
  const agents = demoAgents(model, folder)
  const store = await createSqliteStore({ path: file })
  const server = createServer({
    ...{ agents, store },
    console: { foreign: true, toolCalls: true },
    ...(origins.length > 0 && { cors: { origins } }),
    ...identifyByToken(token),
  })
  const serving = await serve(server, { port, host }).catch(async (error) => {
    await server.close()
    throw error
  })
  const url = localUrl(serving.url)
  for (const [name, note] of Object.entries(missing))
    if (!agents.some((agent) => agent.name === name)) notes.push(note)
  notes.push(...notesFor({ host, origins, token }))
  const about = [
    `Threads are in ${file}. Ctrl-C stops the server; they are still there when it starts again.`,
    'npm start -- --curl shows the same without a browser; --help tells the rest.',
  ]
  console.log([`\n  ${url}\n`, curl ? curlLines({ url, agents, token }) : whatToTry, ''].join('\n'))
  console.log([...notes, ...about].join('\n'))
}

/** Heavy runtimes are loaded when their agent is first used. */
function demoAgents(model, folder) {
  const adk = lazyAdkAgents()
  const graph = lazyGraphAgents(model, join(folder, 'graph.db'))
  const foreign = [adk?.agent, graph?.agent].filter(Boolean)
  const specialists = [adk?.sights, graph?.dinner].filter(Boolean)
  return [...createDemoAgents(model), ...foreign, createMixedAgent(model, specialists)]
}

/** What a person should know who opens the demo to others. */
function notesFor({ host, origins, token }) {
  const forToken = [
    `The page asks for the token ${token}`,
    `Requests need the header authorization: Bearer ${token}`,
    `The server listens on ${host}, without encryption. Whoever has the token can do all that you can: this is a demo.`,
  ]
  const forPages = 'Any page that a browser on this machine opens may use these agents, because of --cors *'
  return [...(token === undefined ? [] : forToken), ...(origins === '*' ? [forPages] : [])]
}
