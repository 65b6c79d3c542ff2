import { CopilotKit, useCoAgent, useCopilotAction, useLangGraphInterrupt } from '@copilotkit/react-core'
import { useAgent } from '@copilotkit/react-core/v2'
import { CopilotChat } from '@copilotkit/react-ui'
import '@copilotkit/react-ui/styles.css'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

/** A page with the hooks that most CopilotKit pages have: `?runtime=…&agent=…&thread=…`. */
const { runtime, agent, thread } = Object.fromEntries(new URLSearchParams(location.search))

function Tools() {
  const [colour, setColour] = useState('white')
  useCopilotAction({
    name: 'set_colour',
    description: 'Sets the colour of the page.',
    parameters: [{ name: 'colour', type: 'string', description: 'A CSS colour.' }],
    handler: ({ colour }) => {
      setColour(colour)
      return `The page is ${colour} now.`
    },
  })
  useCopilotAction({
    name: 'get_weather',
    available: 'disabled',
    parameters: [{ name: 'city', type: 'string' }],
    render: ({ status, args, result }) => (
      <p data-tool="get_weather">
        {args.city ?? '…'}: {status} {result === undefined ? '' : JSON.stringify(result)}
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
  const { state, setState } = useCoAgent({ name: agent, initialState: {} })
  const items = state.items ?? []
  return (
    <section>
      <ul data-testid="list">
        {items.map((item) => (
          <li key={item}>{item}</li>
        ))}
      </ul>
      <button onClick={() => setState({ ...state, items: [...items, 'soap'] })}>Add soap</button>
    </section>
  )
}

function Approval() {
  useLangGraphInterrupt({
    render: ({ event, resolve }) => (
      <form data-testid="interrupt">
        <p>{event.value.message ?? event.value}</p>
        <output>{JSON.stringify(event.value)}</output>
        <button type="button" onClick={() => resolve({ approved: true })}>
          Approve
        </button>
        <button type="button" onClick={() => resolve('by sea')}>
          By sea
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

function Import() {
  const { agent: client } = useAgent({ agentId: agent })
  return <button onClick={() => client.setMessages([...client.messages, ...imported])}>Import</button>
}

createRoot(document.getElementById('root')).render(
  <CopilotKit runtimeUrl={runtime} agent={agent} threadId={thread} useSingleEndpoint enableInspector={false}>
    <Tools />
    <List />
    <Approval />
    <Import />
    <CopilotChat labels={{ initial: 'Hello, I am the page.' }} />
  </CopilotKit>,
)
