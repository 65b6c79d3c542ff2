import {
  CopilotChat,
  CopilotKitProvider,
  useAgent,
  useAgentContext,
  useConfigureSuggestions,
  useFrontendTool,
  useHumanInTheLoop,
  useInterrupt,
  useRenderTool,
  useThreads,
} from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'
import { ownCatalog } from './catalog.jsx'

/** CopilotKit's front end straight on the server: `?server=…&agent=…&thread=…`, with `single` over its single route. */
const query = Object.fromEntries(new URLSearchParams(location.search))
const { server, agent: agentId, single } = query

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
  useHumanInTheLoop({
    name: 'pick_seat',
    description: 'Lets the person pick a seat.',
    parameters: z.object({ seats: z.array(z.string()) }),
    render: ({ status, args, respond, result }) => (
      <section data-tool="pick_seat" data-testid="seats">
        <p>{status === 'complete' ? `Picked: ${result}` : 'Which seat?'}</p>
        {respond &&
          (args.seats ?? []).map((seat) => (
            <button key={seat} onClick={() => respond(seat)}>
              {seat}
            </button>
          ))}
      </section>
    ),
  })
  useAgentContext({ description: 'The page', value: 'a test page' })
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

/** All open interrupts at once, each with its own answer. */
function Approval() {
  const [answered, setAnswered] = useState([])
  useInterrupt({
    agentId,
    render: ({ interrupts, resolve, cancel }) => {
      const answer = (id, how) => {
        setAnswered((ids) => [...ids, id])
        how()
      }
      return (
        <form data-testid="interrupt">
          {interrupts.map(({ id, message }) => (
            <fieldset key={id} disabled={answered.includes(id)}>
              <legend>{message}</legend>
              <button type="button" onClick={() => answer(id, () => resolve({ approved: true }, id))}>
                Approve
              </button>
              <button type="button" onClick={() => answer(id, () => cancel(id))}>
                Cancel
              </button>
            </fieldset>
          ))}
        </form>
      )
    },
  })
  return null
}

function Suggestions() {
  useConfigureSuggestions({
    instructions: 'Suggest cities.',
    maxSuggestions: 2,
    available: 'after-first-message',
    providerAgentId: agentId,
    consumerAgentId: agentId,
  })
  return null
}

function Threads({ open }) {
  const { threads, error, renameThread, archiveThread, unarchiveThread, deleteThread, refetchThreads } =
    useThreads({
      agentId,
      includeArchived: query.archived === 'true',
    })
  return (
    <nav>
      <button onClick={() => refetchThreads()}>Refresh</button>
      <output data-testid="threads-error">{error?.message ?? ''}</output>
      <ul data-testid="threads">
        {threads.map(({ id, name, archived }) => (
          <li key={id} data-thread={id}>
            <span>{name}</span>
            {archived && <em> (archived)</em>}
            <button onClick={() => open(id)}>Open</button>
            <button onClick={() => renameThread(id, 'Renamed')}>Rename</button>
            <button onClick={() => (archived ? unarchiveThread(id) : archiveThread(id))}>
              {archived ? 'Take back' : 'Archive'}
            </button>
            <button onClick={() => deleteThread(id)}>Delete</button>
          </li>
        ))}
      </ul>
    </nav>
  )
}

function Page() {
  const [thread, setThread] = useState(query.thread)
  return (
    <>
      <Tools />
      <List />
      <Approval />
      {query.suggest === 'true' && <Suggestions />}
      {query.threads === 'true' && <Threads open={setThread} />}
      <div style={{ height: 600 }}>
        <CopilotChat agentId={agentId} threadId={thread} attachments={{ enabled: true }} />
      </div>
    </>
  )
}

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider
    runtimeUrl={`${server}/copilotkit`}
    enableInspector={false}
    {...(single === 'true' && { useSingleEndpoint: true })}
    {...(query.catalog === 'true' && { a2ui: { catalog: ownCatalog } })}
  >
    <Page />
  </CopilotKitProvider>,
)
