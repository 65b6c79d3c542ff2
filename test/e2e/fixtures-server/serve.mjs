// A server in a process of its own: `node serve.mjs <build> <database> <grace in ms>`.
// Writes its address to its output, one line. What the model does is decided by what it was last told; a line on the
// input lets a model go on that waits.
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'

const [build, path, graceMs] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(build, file)).href)
const { defineAgent, defineTool } = await load('index.js')
const { scriptedModel } = await load('models/index.js')
const { createServer } = await load('server/index.js')
const { serve } = await load('server/node.js')
const { createSqliteStore } = await load('threads/sqlite/store.js')

const never = new Promise(() => undefined)
let goOn
const gate = new Promise((resolve) => {
  goOn = resolve
})

const count = defineTool({
  name: 'count',
  description: 'Counts turns.',
  execute(_args, ctx) {
    ctx.setState((state) => ({ ...state, count: (state?.count ?? 0) + 1 }))
    return 'counted'
  },
})

const words = Array.from({ length: 40 }, (_, n) => [`${n} `, { wait: () => pause(2) }]).flat()

/** By the last words of the user, and of the tools since. */
function answer({ messages }) {
  const results = new Set(
    messages.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
  )
  const calls = messages.flatMap((message) => message.toolCalls ?? [])
  if (calls.some(({ id }) => !results.has(id))) return 'A call has no result.'
  const last = messages.at(-1)
  if (last.role === 'tool' && last.toolCallId.startsWith('ask')) return `You have chosen ${last.content}.`
  if (last.role === 'tool') return [...words, 'all.']
  switch (last.content) {
    case 'hang':
      return ['Some ', 'words ', { wait: () => never }]
    case 'gate':
      return ['First. ', { wait: () => gate }, 'Last.']
    case 'ask':
      return [
        'Choose. ',
        { toolCall: { id: 'ask-1', name: 'choose', args: { of: 'two' } } },
        { wait: () => never },
      ]
    case 'count':
      return ['I count. ', { toolCall: { id: `count-${messages.length}`, name: 'count' } }]
    default:
      return `You said: ${last.content}`
  }
}

const quiet = () => undefined
const server = createServer({
  agents: [defineAgent({ name: 'speaker', model: scriptedModel(answer), tools: [count] })],
  store: await createSqliteStore({ path }),
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const { url } = await serve(server, { port: 0, graceMs: Number(graceMs) })
process.stdout.write(`${url}\n`)
createInterface({ input: process.stdin }).once('line', goOn)
