import {
  CopilotChat,
  CopilotKitProvider,
  useAgent,
  useFrontendTool,
  useInterrupt,
  useRenderTool,
} from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { MillraceHttpAgent } from 'millrace/ag-ui'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

/**
 * A page with CopilotKit's second generation of hooks: `?runtime=…&agent=…&thread=…`, or without a runtime
 * `?server=…&own&agent=…&thread=…`, with our agent.
 */
const {
  runtime,
  server,
  own,
  agent: agentId,
  thread,
} = Object.fromEntries(new URLSearchParams(location.search))

const connection =
  own === undefined
    ? { runtimeUrl: runtime }
    : {
        selfManagedAgents: {
          [agentId]: new MillraceHttpAgent({ url: `${server}/agents/${agentId}/run` }),
        },
      }

function Tools() {
  const [colour, setColour] = useState('white')
  useFrontendTool({
    name: 'set_colour',
    description: 'Sets the colour of the page.',
    parameters: z.object({ colour: z.string() }),
    handler: async ({ colour }) => {
      setColour(colour)
      return `The page is ${colour} now.`
    },
  })
  useRenderTool({
    name: 'get_weather',
    parameters: z.object({ city: z.string() }),
    render: ({ status, parameters, result }) => (
      <p data-tool="get_weather">
        {parameters.city ?? '…'}: {status} {result ?? ''}
      </p>
    ),
  })
  return (
    <p data-testid="colour" style={{ background: colour }}>
      {colour}
    </p>
  )
}

function List() {
  const { agent } = useAgent({ agentId })
  const items = agent.state?.items ?? []
  return (
    <section>
      <ul data-testid="list">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
      <button onClick={() => agent.setState({ ...agent.state, items: [...items, 'soap'] })}>Add soap</button>
    </section>
  )
}

function Approval() {
  useInterrupt({
    agentId,
    render: ({ interrupt, event, resolve, cancel }) => (
      <form data-testid="interrupt">
        <p>{interrupt?.message ?? JSON.stringify(event.value)}</p>
        <button type="button" onClick={() => resolve({ approved: true })}>
          Approve
        </button>
        <button type="button" onClick={() => cancel()}>
          Cancel
        </button>
      </form>
    ),
  })
  return null
}

/** A conversation from elsewhere. */
const imported = [
  { id: 'i1', role: 'user', content: 'Which plan?' },
  { id: 'i2', role: 'assistant', content: 'The old plan.' },
]

function Greeting() {
  const { agent } = useAgent({ agentId })
  const greet = () =>
    agent.setMessages([{ id: 'hello', role: 'assistant', content: 'Hello, I am the page.' }])
  const addImported = () => agent.setMessages([...agent.messages, ...imported])
  return (
    <p>
      <button onClick={greet}>Greet</button>
      <button onClick={addImported}>Import</button>
    </p>
  )
}

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider {...connection} enableInspector={false}>
    <Tools />
    <List />
    <Approval />
    <Greeting />
    <div style={{ height: 600 }}>
      <CopilotChat agentId={agentId} threadId={thread} />
    </div>
  </CopilotKitProvider>,
)
