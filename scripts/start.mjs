/**
 * Serves the demo agents: `npm start`. Threads are kept in a SQLite file, and without a key the demo model answers.
 */
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { modelFromEnv } from 'millrace/models'
import { serve } from 'millrace/node'
import { createServer } from 'millrace/server'
import { createSqliteStore } from 'millrace/sqlite'
import { createDemoAgents } from './demo-agents.mjs'
import { createMixedAgent } from './demo-mixed.mjs'
import { lazyAdkAgent } from './lazy-adk-agent.mjs'
import { lazyGraphAgent } from './lazy-graph-agent.mjs'

const help = `Serves the demo agents over AG-UI.

  npm start                      on http://127.0.0.1:4111
  npm start -- --port 8000       on another port; 0 takes any that is free
  npm start -- --help            this text

  PORT             the port, when --port does not say it
  MILLRACE_DIR     the folder for threads.db and graph.db; default .millrace
  MILLRACE_MODEL   a model, openai/gpt-5-mini for example, or demo
  LOG_LEVEL        what is logged; default warn`

// Inside the shell's single quotes: a new id each time the line is used.
const now = "'$(date +%s)'"

/** Printed for an agent that is not available, by its name. */
const missing = {
  adk: 'There is no agent of Google ADK: @google/adk is not installed. Run: npm install @google/adk\n',
  graph:
    'There is no agent of LangGraph: it is not installed. Run: npm install @langchain/langgraph @langchain/core\n',
}

async function start(port) {
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
  const server = createServer({ agents, store: await createSqliteStore({ path: file }) })
  const { url } = await serve(server, { port }).catch(async (error) => {
    await server.close()
    throw error
  })
  mixed.connect(`${url}/agents/tools/run`)
  console.log(whatToTry(url, agents, file))
  // Takes seconds, so only after the URLs are printed.
  for (const { agent, load } of lazy)
    await load().catch(({ message }) => console.error(`The agent ${agent.name} cannot be used: ${message}`))
}

function portOf(text) {
  if (text === undefined || text === '') return 4111
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Infinity
  if (port <= 65_535) return port
  throw new Error(`'${text}' is no port: a number from 0 to 65535 is expected.`)
}

function whatToTry(url, agents, file) {
  const tries = agents.flatMap(({ name, description, examples: [prompt] }) => [
    `# ${name}: ${description}`,
    post(`${url}/agents/${name}/run`, { messages: [{ id: now, role: 'user', content: prompt }] }),
    ...(name === 'approval' ? [answerTo(url)] : []),
    '',
  ])
  return [
    `\nMillrace serves ${agents.length} agents at ${url}; ${agents[0].name} answers at ${url}/ too. Threads are in ${file}.`,
    'In another terminal, try:\n',
    ...tries,
    '# all agents with more to ask them; the threads of one; the state of a thread',
    `curl ${url}/agents`,
    `curl ${url}/agents/chat/thread/list`,
    `curl ${url}/agents/shared-state/state_snapshot/demo\n`,
    ...Object.keys(missing).flatMap((name) =>
      agents.some((agent) => agent.name === name) ? [] : [missing[name]],
    ),
    'Ctrl-C stops the server. Threads are still there when it starts again.',
  ].join('\n')
}

function answerTo(url) {
  const resume = [{ interruptId: 'INTERRUPT_ID', status: 'resolved', payload: { approved: true } }]
  return [
    '# its last event has the interrupt; answer with the id in outcome.interrupts, now or after a restart',
    post(`${url}/agents/approval/run`, { messages: [], resume }),
  ].join('\n')
}

function post(address, fields) {
  const body = JSON.stringify({ protocolVersion: '1.0', threadId: 'demo', runId: now, ...fields })
  return `curl -N ${address} -H 'content-type: application/json' -d '${body}'`
}

try {
  const { values } = parseArgs({
    options: { port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help) console.log(help)
  else await start(portOf(values.port ?? process.env.PORT))
} catch (error) {
  const [reason] = String(error instanceof Error ? error.message : error).split('\n')
  console.error(`Cannot start: ${reason} (npm start -- --help)`)
  process.exitCode = 1
}
