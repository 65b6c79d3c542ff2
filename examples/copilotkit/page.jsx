import {
  CopilotChat,
  CopilotKitProvider,
  useFrontendTool,
  useInterrupt,
  useRenderTool,
  useThreads,
} from '@copilotkit/react-core/v2'
import '@copilotkit/react-core/v2/styles.css'
import { useEffect, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { z } from 'zod'

/** A tool of the server, drawn by the page: also after a reload. */
function Weather() {
  useRenderTool({
    name: 'get_weather',
    parameters: z.object({ city: z.string() }),
    render: ({ status, parameters, result }) => (
      <p data-testid="weather">
        {parameters.city}: {status === 'complete' ? `${JSON.parse(result).temperature} °C` : '…'}
      </p>
    ),
  })
  return null
}

/** A tool of the page, which the agent may call. */
function Paint() {
  const [colour, setColour] = useState('white')
  useFrontendTool({
    name: 'set_background',
    description: 'Sets the colour behind the chat.',
    parameters: z.object({ colour: z.string() }),
    handler: async ({ colour }) => {
      setColour(colour)
      return `The background is ${colour}.`
    },
  })
  useEffect(() => {
    document.body.style.background = colour
  }, [colour])
  return null
}

/** What the agent asks before it acts. It stays open over reloads and restarts. */
function Approval() {
  useInterrupt({
    render: ({ interrupt, resolve, cancel }) => (
      <p data-testid="approval">
        {interrupt?.message} <button onClick={() => resolve({ approved: true })}>Yes</button>
        <button onClick={() => cancel()}>No</button>
      </p>
    ),
  })
  return null
}

function Threads({ current, open }) {
  const { threads, renameThread, archiveThread, deleteThread, refetchThreads } = useThreads({
    agentId: 'default',
  })
  useEffect(() => refetchThreads(), [current, refetchThreads])
  return (
    <nav>
      <button onClick={() => open(window.crypto.randomUUID())}>New chat</button>
      <button onClick={() => refetchThreads()}>Refresh</button>
      {threads.map(({ id, name }) => (
        <p key={id} data-testid="thread">
          <a href={`#${id}`}>{name}</a>
          <button onClick={() => renameThread(id, window.prompt('Name', name) ?? name)}>Rename</button>
          <button onClick={() => archiveThread(id)}>Archive</button>
          <button onClick={() => deleteThread(id)}>Delete</button>
        </p>
      ))}
    </nav>
  )
}

/** The thread is in the address: a reload, and another tab, have the same one. */
function useThreadInAddress() {
  const [thread, setThread] = useState(() => location.hash.slice(1) || window.crypto.randomUUID())
  useEffect(() => {
    location.hash = thread
    const read = () => setThread(location.hash.slice(1))
    window.addEventListener('hashchange', read)
    return () => window.removeEventListener('hashchange', read)
  }, [thread])
  return [thread, setThread]
}

function Page() {
  const [thread, open] = useThreadInAddress()
  return (
    <>
      <Weather />
      <Paint />
      <Approval />
      <Threads current={thread} open={open} />
      <div style={{ height: '80vh' }}>
        <CopilotChat threadId={thread} />
      </div>
    </>
  )
}

createRoot(document.getElementById('root')).render(
  <CopilotKitProvider runtimeUrl="/copilotkit" enableInspector={false}>
    <Page />
  </CopilotKitProvider>,
)
