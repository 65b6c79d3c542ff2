// One life of a process that runs an agent: `node support-process-death.mjs <build> <folder> <answers as JSON>`.
// Writes every event to its output, one a line. A run that asks leaves the process waiting, to be killed.
import { appendFile, open, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { setInterval } from 'node:timers'
import { pathToFileURL } from 'node:url'

const [build, folder, answers] = process.argv.slice(2)
const load = (path) => import(pathToFileURL(join(build, path)).href)
const { agentTool, defineAgent, defineTool, run } = await load('index.js')
const { scriptedModel } = await load('models/index.js')

const did = (what) => appendFile(join(folder, 'deeds.txt'), `${what}\n`)

const lookUp = defineTool({
  name: 'look_up',
  description: 'Looks up the price.',
  async execute() {
    await did('looked up')
    return '100'
  },
})

const asking = (name) =>
  defineTool({
    name,
    description: 'Asks before it acts.',
    async execute(_args, ctx) {
      const answer = await ctx.interrupt({ message: `${name}?`, state: { asked: name } })
      await did(`${name}: ${JSON.stringify(answer)}, kept ${JSON.stringify(ctx.resumed?.state)}`)
      return `${name} done`
    },
  })

/** Calls the tools, and says its last word when their results are there. */
const model = (calls, lastWord) =>
  scriptedModel(({ messages }) =>
    messages.some(({ role }) => role === 'tool')
      ? lastWord
      : ['One moment.', ...calls.map((call) => ({ toolCall: call }))],
  )

const clerk = defineAgent({
  name: 'clerk',
  description: 'Keeps the books.',
  model: model([{ id: 'sign-1', name: 'sign' }], 'Signed.'),
  tools: [asking('sign')],
})
const agent = defineAgent({
  name: 'cashier',
  model: model(
    [
      { id: 'look-1', name: 'look_up' },
      { id: 'pay-1', name: 'pay' },
      { id: 'clerk-1', name: 'clerk', args: { request: 'Sign it.' } },
    ],
    'All paid.',
  ),
  tools: [lookUp, asking('pay'), agentTool(clerk)],
})

/** Written to the disk, and whole or not at all, when `save` resolves. */
const file = join(folder, 'checkpoint.json')
const checkpoints = {
  async load() {
    try {
      return JSON.parse(await readFile(file, 'utf8'))
    } catch (error) {
      if (error.code === 'ENOENT') return undefined
      throw error
    }
  },
  async save(_threadId, checkpoint) {
    const handle = await open(`${file}.new`, 'w')
    await handle.writeFile(JSON.stringify(checkpoint))
    await handle.sync()
    await handle.close()
    await rename(`${file}.new`, file)
  },
}

const resume = Object.entries(JSON.parse(answers)).map(([interruptId, payload]) => ({
  interruptId,
  status: 'resolved',
  payload,
}))
const request =
  resume.length > 0 ? { resume } : { messages: [{ id: 'u1', role: 'user', content: 'Pay the bill.' }] }
const running = run(agent, { threadId: 'thread-1', ...request }, { checkpoints })
for await (const event of running) process.stdout.write(`${JSON.stringify(event)}\n`)
const outcome = await running.result
// Nobody ends it but the one who kills it.
if (outcome.type === 'interrupted') setInterval(() => undefined, 1000)
