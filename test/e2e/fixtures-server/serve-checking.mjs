// A server whose agents check values against schemas of their own: `node serve-checking.mjs <build>`.
// Writes its address to its output, one line. In a process of its own, since a check could hang it.
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

const [build] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(build, file)).href)
const { defineAgent, defineTool } = await load('index.js')
const { scriptedModel } = await load('models/index.js')
const { createServer } = await load('server/index.js')
const { serve } = await load('server/node.js')

const evil = '^([a-z]+-?)*[a-z]+$'
const long = `${'a'.repeat(60)}!`

const open = defineTool({
  name: 'open',
  description: 'Opens a page.',
  parameters: {
    type: 'object',
    properties: { page: { format: 'url' }, names: { propertyNames: { pattern: evil } } },
    patternProperties: { [evil]: true },
    additionalProperties: false,
  },
  execute: () => 'opened',
})
const sign = defineTool({
  name: 'sign',
  description: 'Asks for a name.',
  async execute(_args, { interrupt }) {
    const { payload } = await interrupt({ responseSchema: { type: 'string', pattern: evil } })
    return payload
  },
})

const called = (name, args) =>
  scriptedModel(({ messages }) =>
    messages.at(-1).role === 'tool' ? messages.at(-1).content : [{ toolCall: { id: 'call-1', name, args } }],
  )
const quiet = () => undefined
const server = createServer({
  agents: [
    defineAgent({
      name: 'opens',
      model: called('open', { page: `http://${long} `, names: { [long]: 1 }, [long]: 1 }),
      tools: [open],
    }),
    defineAgent({ name: 'signs', model: called('sign', {}), tools: [sign] }),
    defineAgent({
      name: 'writes',
      model: scriptedModel(({ messages }) => JSON.stringify(messages.length > 1 ? 'abc' : long)),
      output: { type: 'string', pattern: evil },
    }),
  ],
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const { url } = await serve(server, { port: 0 })
process.stdout.write(`${url}\n`)
