import { createClient } from 'millrace/client'
import { useThread } from 'millrace/react'
import { StrictMode, useEffect, useRef, useState } from 'react'
import { createRoot } from 'react-dom/client'
import { Message } from './message.jsx'
import './page.css'

const client = createClient({ url: location.origin })
const agent = 'concierge'

function Chat({ threadId, onChange }) {
  const { thread, messages, status, interrupts, connection, error } = useThread(client, agent, { threadId })
  const isRunning = status === 'running'
  useEffect(onChange, [status, onChange])
  return (
    <main>
      {status === 'idle' && messages.length === 0 && <Welcome thread={thread} />}
      <Messages messages={messages} isRunning={isRunning} />
      {interrupts.map((interrupt) => (
        <Approval key={interrupt.id} interrupt={interrupt} thread={thread} />
      ))}
      {error && <p className="notice error">{error.message}</p>}
      {connection === 'retrying' && <p className="notice">The server cannot be reached. Trying again …</p>}
      <Composer thread={thread} isRunning={isRunning} isAsking={interrupts.length > 0} />
    </main>
  )
}

function Messages({ messages, isRunning }) {
  const end = useRef(null)
  useEffect(() => void end.current?.scrollIntoView({ block: 'end' }), [messages])
  // A call and its result are one card.
  const results = new Map(
    messages.filter(({ role }) => role === 'tool').map((tool) => [tool.toolCallId, tool]),
  )
  const isWaiting = isRunning && messages.at(-1)?.role === 'user'
  return (
    <div className="messages">
      {messages.map((message) => (
        <Message key={message.id} message={message} results={results} />
      ))}
      {isWaiting && <p className="waiting" aria-label="The agent works" />}
      <div ref={end} />
    </div>
  )
}

const beginnings = ['What is the weather in Oslo?', 'Book a table for 2 guests.', 'Tell me a story.']

function Welcome({ thread }) {
  return (
    <header className="welcome">
      <h1>What can I do for you?</h1>
      {beginnings.map((text) => (
        <button key={text} className="plain" onClick={() => void thread.send(text)}>
          {text}
        </button>
      ))}
    </header>
  )
}

/** What the agent asks before it acts. It stays open over reloads and restarts, and in every tab. */
function Approval({ interrupt: { id, message }, thread }) {
  const answer = (approved) => void thread.resume([{ interruptId: id, payload: { approved } }])
  return (
    <section className="approval" data-testid="approval">
      <p>{message}</p>
      <button className="plain" onClick={() => answer(false)}>
        No
      </button>
      <button onClick={() => answer(true)}>Yes, please</button>
    </section>
  )
}

function Composer({ thread, isRunning, isAsking }) {
  const [text, setText] = useState('')
  const send = (event) => {
    event.preventDefault()
    if (text.trim() === '') return
    setText('')
    void thread.send(text)
  }
  return (
    <form className="composer" onSubmit={send}>
      <input
        autoFocus
        aria-label="Message"
        placeholder={isAsking ? 'Answer first' : 'Ask the concierge'}
        disabled={isAsking}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      {isRunning ? (
        <button type="button" onClick={() => void thread.stop()}>
          Stop
        </button>
      ) : (
        <button disabled={isAsking || text.trim() === ''}>Send</button>
      )}
    </form>
  )
}

function Threads({ threads, current }) {
  return (
    <nav>
      <a className="new" href={`#${window.crypto.randomUUID()}`}>
        New chat
      </a>
      {threads.map(({ threadId, title }) => (
        <a key={threadId} href={`#${threadId}`} aria-current={threadId === current} data-testid="thread">
          {title}
        </a>
      ))}
    </nav>
  )
}

/** The thread is in the address: a reload, and another tab, have the same one. */
function useThreadInAddress() {
  const [thread, setThread] = useState(() => location.hash.slice(1) || window.crypto.randomUUID())
  useEffect(() => {
    window.history.replaceState(null, '', `#${thread}`)
    const read = () => setThread(location.hash.slice(1))
    window.addEventListener('hashchange', read)
    return () => window.removeEventListener('hashchange', read)
  }, [thread])
  return thread
}

const listThreads = async () => (await client.threads.list(agent)).threads

function Page() {
  const threadId = useThreadInAddress()
  const [threads, setThreads] = useState([])
  const [refresh] = useState(() => () => void listThreads().then(setThreads))
  return (
    <>
      <Threads threads={threads} current={threadId} />
      <Chat key={threadId} threadId={threadId} onChange={refresh} />
    </>
  )
}

createRoot(document.getElementById('root')).render(
  <StrictMode>
    <Page />
  </StrictMode>,
)
