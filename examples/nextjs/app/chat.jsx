'use client'

import { createClient } from 'millrace/client'
import { useThread } from 'millrace/react'

const client = createClient({ url: '/api' })

/** Rendered on the server as a thread that is loading; the browser follows it from there. */
export function Chat({ threadId }) {
  const { thread, messages, status, interrupts, error } = useThread(client, 'concierge', { threadId })
  return (
    <main>
      <a href="/">New chat</a>
      <ol>
        {messages.map((message) => (
          <Message key={message.id} message={message} />
        ))}
      </ol>
      {interrupts.map((interrupt) => (
        <Approval key={interrupt.id} interrupt={interrupt} thread={thread} />
      ))}
      {error && <p role="alert">{error.message}</p>}
      <form action={(form) => void thread.send(form.get('text'))}>
        <input name="text" aria-label="Message" placeholder="What is the weather in Oslo?" required />
        {status === 'running' ? (
          <button type="button" onClick={() => thread.stop()}>
            Stop
          </button>
        ) : (
          <button disabled={status !== 'idle'}>Send</button>
        )}
      </form>
    </main>
  )
}

/** What the agent asks before it acts. It stays open over reloads and restarts, and in every tab. */
function Approval({ interrupt: { id, message }, thread }) {
  const answer = (approved) => void thread.resume([{ interruptId: id, payload: { approved } }])
  return (
    <section data-testid="approval">
      <p>{message}</p>
      <button className="plain" onClick={() => answer(false)}>
        No
      </button>
      <button onClick={() => answer(true)}>Yes, please</button>
    </section>
  )
}

function Message({ message: { role, content, toolCalls = [] } }) {
  if (role !== 'user' && role !== 'assistant' && role !== 'tool') return null
  return (
    <li className={role} data-testid={role}>
      {content}
      {toolCalls.map(({ id, function: { name, arguments: json } }) => (
        <code key={id} data-tool={name}>
          {name} {json}
        </code>
      ))}
    </li>
  )
}
