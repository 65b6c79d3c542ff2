import { LangGraphAgent } from '@ag-ui/langgraph'
import type { BaseMessage } from '@langchain/core/messages'
import type { StreamEvent } from '@langchain/core/tracers/log_stream'

interface Graph {
  getState(config: object): Promise<{ readonly values: unknown }>
  getGraphAsync(): Promise<{ toJSON(): unknown }>
  streamEvents(input: never, options: { version: 'v2' }): AsyncIterable<StreamEvent>
}
type Client = NonNullable<ConstructorParameters<typeof LangGraphAgent>[0]['client']>

const assistant = { assistant_id: 'a', graph_id: 'talker', config: {} }
const schema = { properties: { messages: {} } }

/** As a server sends it. */
const toPlain = ({ id, type, content }: BaseMessage) => ({ id, type, content })

/**
 * A client of a LangGraph server that calls the graph in this process, without JSON and network. So the benchmark measures
 * the adapter at its best.
 */
function clientOf(graph: Graph): Client {
  const config = { configurable: { thread_id: 't' } }
  const client = {
    assistants: {
      search: () => Promise.resolve([assistant]),
      getGraph: async () => (await graph.getGraphAsync()).toJSON(),
      getSchemas: () => Promise.resolve({ input_schema: schema, output_schema: schema }),
    },
    threads: {
      get: () => Promise.resolve({ thread_id: 't' }),
      getState: async () => {
        const { values, ...state } = await graph.getState(config)
        const { messages = [] } = values as { messages?: BaseMessage[] }
        return { ...state, values: { messages: messages.map(toPlain) } }
      },
    },
    runs: {
      async *stream(_thread: string, _assistant: string, { input }: { input: unknown }) {
        const options = { ...config, version: 'v2', streamMode: ['values', 'updates'] } as const
        let root: string | undefined
        for await (const data of graph.streamEvents(input as never, options)) {
          root ??= data.run_id
          if (data.event === 'on_chain_stream' && data.run_id === root) {
            const [mode, payload] = data.data.chunk as [string, unknown]
            yield { event: mode, data: payload }
          } else yield { event: 'events', data }
        }
      },
    },
  }
  return client as unknown as Client
}

/** Runs a graph through the official adapter. Counts the text deltas. */
export function runOfficial(graph: Graph): Promise<number> {
  const agent = new LangGraphAgent({ client: clientOf(graph), deploymentUrl: '', graphId: 'talker' })
  let events = 0
  const input = {
    threadId: 't',
    runId: 'r',
    state: {},
    messages: [{ id: 'm', role: 'user' as const, content: 'Go on.' }],
    tools: [],
    context: [],
  }
  return new Promise((resolve, reject) => {
    agent.run(input).subscribe({
      next: (event) => {
        if ('delta' in event) events++
      },
      error: reject,
      complete: () => resolve(events),
    })
  })
}
