/**
 * Serves the demo agents: `npm start`. Threads are kept in a SQLite file, and without a key the demo model answers.
 */
import { join } from 'node:path'
import { modelFromEnv } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { createDemoAgents } from './demo-agents.mjs'
import { createMixedAgent } from './demo-mixed.mjs'
import { lazyAdkAgent } from './lazy-adk-agent.mjs'
import { lazyGraphAgent } from './lazy-graph-agent.mjs'
import { help, identifyByToken, localUrl, startOptions } from './start-options.mjs'

// Inside the shell's single quotes: a new id each time the line is used.
const now = "'$(date +%s)'"

const howToAnswer =
  '# its last event has the interrupt; answer with the id in outcome.interrupts, now or after a restart'
const answer = { interruptId: 'INTERRUPT_ID', status: 'resolved', payload: { approved: true } }

/** Printed for an agent that is not available, by its name. */
const missing = {
  adk: 'There is no agent of Google ADK: @google/adk is not installed. Run: npm install @google/adk\n',
  graph:
    'There is no agent of LangGraph: it is not installed. Run: npm install @langchain/langgraph @langchain/core\n',
}

async function start({ port, host, origins, token }) {
  // The console shows what to try. LOG_LEVEL=info shows runs too.
  process.env.LOG_LEVEL ??= 'warn'
  const folder = process.env.MILLRACE_DIR || '.millrace'
  const file = join(folder, 'threads.db')
  const model = await modelFromEnv({ log: (line) => console.log(line) })
  const lazy = [lazyAdkAgent(), lazyGraphAgent(model, join(folder, 'graph.db'))].filter(Boolean)
  const own = createDemoAgents(model)
  const foreign = lazy.map(({ agent }) => agent)
  const mixed = createMixedAgent([...own.filter(({ name }) => name === 'tools'), ...foreign])
  const agents = [...own, ...foreign, mixed.agent]
  const store = await createSqliteStore({ path: file })
  const server = createServer({
    ...{ agents, store },
    ...(origins.length > 0 && { cors: { origins } }),
    ...identifyByToken(token),
  })
  const { url } = await serve(server, { port, host }).catch(async (error) => {
    await server.close()
    throw error
  })
  mixed.connect(`${localUrl(url)}/agents/tools/run`, authorization(token))
  const notes = notesFor({ host, origins, token })
  console.log(whatToTry({ url: localUrl(url), agents, file, token, notes }))
  // Takes seconds, so only after the URLs are printed.
  for (const { agent, load } of lazy)
    await load().catch(({ message }) => console.error(`The agent ${agent.name} cannot be used: ${message}`))
}

function authorization(token) {
  return token === undefined ? {} : { authorization: `Bearer ${token}` }
}

/** What a person should know who opens the demo to others. */
function notesFor({ host, origins, token }) {
  const forToken = [
    `Requests need the header authorization: Bearer ${token}`,
    `The server listens on ${host}, without encryption. Whoever has the token can do all that you can: this is a demo.\n`,
  ]
  const forPages = 'Any page that a browser on this machine opens may use these agents, because of --cors *\n'
  return [...(token === undefined ? [] : forToken), ...(origins === '*' ? [forPages] : [])]
}

function whatToTry({ url, agents, file, token, notes }) {
  const header = Object.entries(authorization(token)).map(([name, value]) => ` -H '${name}: ${value}'`)
  const get = (path) => `curl ${url}${path}${header.join('')}`
  const post = (agent, fields) => postLine(`${url}/agents/${agent}/run${header.join('')}`, fields)
  const tries = agents.flatMap(({ name, description, examples: [prompt] }) => [
    `# ${name}: ${description}`,
    post(name, { messages: [{ id: now, role: 'user', content: prompt }] }),
    ...(name === 'approval' ? [howToAnswer, post(name, { messages: [], resume: [answer] })] : []),
    '',
  ])
  return [
    `\nMillrace serves ${agents.length} agents at ${url}; ${agents[0].name} answers at ${url}/ too. Threads are in ${file}.`,
    'In another terminal, try:\n',
    ...tries,
    '# all agents with more to ask them; the threads of one; the state of a thread',
    get('/agents'),
    get('/agents/chat/thread/list'),
    `${get('/agents/shared-state/state_snapshot/demo')}\n`,
    ...Object.keys(missing).flatMap((name) =>
      agents.some((agent) => agent.name === name) ? [] : [missing[name]],
    ),
    ...notes,
    'Ctrl-C stops the server. Threads are still there when it starts again.',
  ].join('\n')
}

function postLine(address, fields) {
  const body = JSON.stringify({ protocolVersion: '1.0', threadId: 'demo', runId: now, ...fields })
  return `curl -N ${address} -H 'content-type: application/json' -d '${body}'`
}

try {
  const options = startOptions(process.env)
  if (options === undefined) console.log(help)
  else await start(options)
} catch (error) {
  const [reason] = String(error instanceof Error ? error.message : error).split('\n')
  console.error(`Cannot start: ${reason} (npm start -- --help)`)
  process.exitCode = 1
}
