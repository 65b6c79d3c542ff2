import { fetchServerSentEvents, useChat } from '@tanstack/ai-react'
import { MillraceHttpAgent } from 'millrace/ag-ui'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

/** A page that talks to the server itself: `?server=…&agent=…&thread=…`, and `&own` for our agent in place of a URL. */
const { server, agent: name, thread, own } = Object.fromEntries(new URLSearchParams(location.search))
const url = `${server}/agents/${name}/run`

const agent = new MillraceHttpAgent({ url, threadId: thread })

/** To load the thread is to connect, whether or not a run is live. */
const connecting = {
  connect(messages, _data, signal) {
    const { id, parts } = messages.at(-1)
    agent.addMessage({ id, role: 'user', content: parts.map(({ content }) => content).join('') })
    return eventsOf((subscriber) => agent.runAgent({}, subscriber), signal)
  },
  joinRun: (_runId, signal) => eventsOf((subscriber) => agent.connectAgent({}, subscriber), signal),
  hydrate: async () => ({ messages: [], activeRun: { runId: 'latest' }, interrupts: null }),
}

/** What the agent tells of a run. To leave is not to stop: the run goes on. */
function eventsOf(run, signal) {
  signal?.addEventListener('abort', () => void agent.detachActiveRun())
  return new window.ReadableStream({
    start(events) {
      const over = run({ onEvent: ({ event }) => events.enqueue(event) })
      over.then(() => events.close()).catch((error) => events.error(error))
    },
  })
}

const options =
  own === undefined
    ? {
        connection: fetchServerSentEvents(url),
        initialMessages: [
          { id: 'hello', role: 'assistant', parts: [{ type: 'text', content: 'Hello, I am the page.' }] },
        ],
      }
    : { connection: connecting, persistence: true }

/** A conversation from elsewhere. */
const imported = [
  { id: 'i1', role: 'user', parts: [{ type: 'text', content: 'Which plan?' }] },
  { id: 'i2', role: 'assistant', parts: [{ type: 'text', content: 'The old plan.' }] },
]

function Part({ part }) {
  if (part.type === 'text') return <p>{part.content}</p>
  if (part.type === 'tool-call')
    return (
      <p data-tool={part.name}>
        {part.arguments}: {part.state} {part.output === undefined ? '' : JSON.stringify(part.output)}
      </p>
    )
  if (part.type === 'tool-result') return <p data-tool="result">{part.content}</p>
  return null
}

function Chat() {
  const [text, setText] = useState('')
  const { messages, sendMessage, setMessages, isLoading, error, stop } = useChat({
    ...options,
    threadId: thread,
  })
  const send = (event) => {
    event.preventDefault()
    setText('')
    void sendMessage(text)
  }
  return (
    <form onSubmit={send}>
      {messages.map((message) => (
        <div key={message.id} data-testid={message.role} style={{ border: '1px solid silver', margin: 4 }}>
          {message.parts.map((part, index) => (
            <Part key={index} part={part} />
          ))}
        </div>
      ))}
      <button
        type="button"
        onClick={() => setMessages([...messages.filter(({ id }) => id !== 'hello'), ...imported])}
      >
        Import
      </button>
      {error && <p data-testid="error">{error.message}</p>}
      <textarea value={text} onChange={(event) => setText(event.target.value)} />
      {isLoading ? (
        <button
          type="button"
          onClick={() => {
            if (own !== undefined) agent.abortRun()
            stop()
          }}
        >
          Stop
        </button>
      ) : (
        <button>Send</button>
      )}
    </form>
  )
}

createRoot(document.getElementById('root')).render(<Chat />)
