// A tree of all runtimes in a process of its own: `node mixed.mjs <build> <folder> <url of an AG-UI agent>`.
// Writes its address to its output, one line, and to `asked.log` in the folder who was asked, one a line: that is all that
// is left when it is killed.
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { HttpAgent } from '@ag-ui/client'
import { BaseLlm, FunctionTool, LlmAgent, LogLevel, setLogLevel } from '@google/adk'
import { AIMessage } from '@langchain/core/messages'
import { END, interrupt, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { SqliteSaver } from '@langchain/langgraph-checkpoint-sqlite'
import { z } from 'zod'

const [build, folder, remoteUrl] = process.argv.slice(2)
const load = (file) => import(pathToFileURL(join(build, file)).href)
const { defineAgent, parallel } = await load('index.js')
const { supervisor } = await load('agents/prebuilt/index.js')
const { scriptedModel } = await load('models/index.js')
const { fromAdk } = await load('adk/index.js')
const { fromLangGraph } = await load('langgraph/index.js')
const { fromAgUi } = await load('remote/index.js')
const { createServer } = await load('server/index.js')
const { serve } = await load('server/node.js')
const { createSqliteStore } = await load('threads/sqlite/store.js')

setLogLevel(LogLevel.ERROR)
const note = (who) => appendFileSync(join(folder, 'asked.log'), `${who}\n`)

const kit = defineAgent({
  name: 'kit',
  description: 'Counts.',
  model: scriptedModel(() => {
    note('kit')
    return 'Kit has counted.'
  }),
})

class Llm extends BaseLlm {
  constructor() {
    super({ model: 'scripted' })
  }

  async *generateContentAsync({ contents }) {
    const results = contents
      .flatMap(({ parts = [] }) => parts)
      .filter((part) => part.functionResponse?.name === 'book')
    note(`adk ${results.length}`)
    const last = results.at(-1)?.functionResponse.response
    const part = last
      ? { text: `Adk: ${JSON.stringify(last)}` }
      : { functionCall: { id: 'book-1', name: 'book', args: { table: 4 } } }
    yield { content: { role: 'model', parts: [part] }, partial: false }
  }
}

const book = new FunctionTool({
  name: 'book',
  description: 'Books.',
  parameters: z.object({ table: z.number() }),
  requireConfirmation: true,
  execute: ({ table }) => {
    note('booked')
    return `table ${table}`
  },
})
const adk = fromAdk(new LlmAgent({ name: 'adk', description: 'Books.', model: new Llm(), tools: [book] }))

const graph = fromLangGraph(
  new StateGraph(MessagesAnnotation)
    .addNode('prepare', () => {
      note('graph prepare')
      return {}
    })
    .addNode('ship', () => {
      const answer = interrupt({ question: 'Ship?' })
      note('graph ship')
      return { messages: [new AIMessage(`Graph: ${JSON.stringify(answer)}`)] }
    })
    .addEdge(START, 'prepare')
    .addEdge('prepare', 'ship')
    .addEdge('ship', END)
    .compile({ checkpointer: SqliteSaver.fromConnString(join(folder, 'checkpoints.db')) }),
  { name: 'graph', description: 'Ships.' },
)

const remote = fromAgUi(new HttpAgent({ url: remoteUrl }), { name: 'remote', description: 'Is elsewhere.' })
const crew = parallel({ name: 'crew', description: 'All of them.', agents: [kit, adk, graph, remote] })

const lead = supervisor({
  name: 'lead',
  workers: [crew],
  model: scriptedModel(({ messages }) => {
    const heard = messages.filter(({ content }) => String(content).startsWith('For context'))
    note(`lead ${heard.length > 0 ? 'hears' : 'sends'}`)
    if (heard.length === 0)
      return [{ toolCall: { id: 'send-1', name: 'transfer_to_agent', args: { agent_name: 'crew' } } }]
    return heard.map(({ content }) => content.replace('For context: ', '')).join('\n')
  }),
})

const quiet = () => undefined
const server = createServer({
  agents: [lead],
  store: await createSqliteStore({ path: join(folder, 'threads.db') }),
  log: { debug: quiet, info: quiet, warn: quiet, error: quiet },
})
const { url } = await serve(server, { port: 0, graceMs: 1000 })
process.stdout.write(`${url}\n`)
