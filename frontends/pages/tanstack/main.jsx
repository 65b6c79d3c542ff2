import { fetchServerSentEvents, useChat } from '@tanstack/ai-react'
import { useState } from 'react'
import { createRoot } from 'react-dom/client'

/** A page that talks to the server itself: `?server=…&agent=…&thread=…`. */
const { server, agent, thread } = Object.fromEntries(new URLSearchParams(location.search))

const connection = fetchServerSentEvents(`${server}/agents/${agent}/run`)

const initialMessages = [
  { id: 'hello', role: 'assistant', parts: [{ type: 'text', content: 'Hello, I am the page.' }] },
]

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
    connection,
    threadId: thread,
    initialMessages,
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
        <button type="button" onClick={stop}>
          Stop
        </button>
      ) : (
        <button>Send</button>
      )}
    </form>
  )
}

createRoot(document.getElementById('root')).render(<Chat />)
