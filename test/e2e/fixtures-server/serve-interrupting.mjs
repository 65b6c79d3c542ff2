// A server in a process of its own: `node serve-interrupting.mjs <build> <database> <file> <hang|go>`.
// Writes its address to its output, one line. Its tool asks before it works, and adds a line to the file when it does;
// the model, or the tool, hangs behind that when it is told to.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [build, path, file, mode] = process.argv.slice(2)
const load = (name) => import(pathToFileURL(join(build, name)).href)
const { defineAgent, defineTool } = await load('index.js')
const { scriptedModel } = await load('models/index.js')
const { createServer } = await load('server/index.js')
const { serve } = await load('server/node.js')
const { createSqliteStore } = await load('threads/sqlite/store.js')

const never = new Promise(() => undefined)

const mail = defineTool({
  name: 'mail',
  description: 'Sends a mail.',
  async execute(_args, ctx) {
    const { payload } = await ctx.interrupt({ message: 'Send it?' })
    ctx.setState((state) => ({ ...state, sent: 1, 'user:ids': [...(state['user:ids'] ?? []), payload] }))
    if (mode === 'hang-in-tool') await never
    appendFileSync(file, `${payload}\n`)
    return 'sent'
  },
})

function answer({ messages }) {
  const last = messages.at(-1)
  if (last.role === 'user' && last.content === 'mail') return [{ toolCall: { id: 'mail-1', name: 'mail' } }]
  if (last.role !== 'tool') return `You said: ${last.content}`
  return mode === 'hang' ? ['Now ', { wait: () => never }] : 'All done.'
}

const quiet = () => undefined
const server = createServer({
  agents: [defineAgent({ name: 'mailer', model: scriptedModel(answer), tools: [mail] })],
  store: await createSqliteStore({ path }),
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const { url } = await serve(server, { port: 0, graceMs: 0 })
process.stdout.write(`${url}\n`)
