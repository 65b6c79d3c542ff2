import { useEffect, useMemo, type ReactNode } from 'react'
import { useThread } from 'millrace/react'
import { useTexts } from '../i18n/use-texts.js'
import { go, type Route } from '../router.js'
import { useApi } from '../session/use-api.js'
import type { AgentNode } from '../session/contract.js'
import { threadsChanged } from '../threads/threads-changed.js'
import { Notice } from '../ui/notice.js'
import { Composer } from './composer.js'
import { Conversation } from './conversation.js'
import './chat-page.css'

/** A conversation with an agent. */
export function ChatPage({ route }: { readonly route: Route & { readonly page: 'chat' } }): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  const agent = session.agents.find(({ name }) => name === route.agent) ?? session.agents[0]
  // A thread that is not there yet gets its id here, and its address when something is sent.
  const newId = useMemo(() => crypto.randomUUID(), [route.agent, route.threadId])
  if (!agent) return <Notice title={texts.agents}>{texts.nothingFound}</Notice>
  const threadId = route.threadId ?? newId
  return (
    <Chat
      key={`${agent.name}/${threadId}`}
      agent={agent}
      threadId={threadId}
      isNew={route.threadId === undefined}
    />
  )
}

interface ChatProps {
  readonly agent: AgentNode
  readonly threadId: string
  readonly isNew: boolean
}

function Chat({ agent, threadId, isNew }: ChatProps): ReactNode {
  const texts = useTexts()
  const { client, session } = useApi()
  const { thread, ...snapshot } = useThread(client, agent.name, { threadId })
  const { status } = snapshot
  useEffect(() => threadsChanged.notify(), [status])
  const send = (text: string): void => {
    if (isNew) go({ page: 'chat', agent: agent.name, threadId }, { replace: true })
    void thread.send(text)
  }
  return (
    <div className="chat">
      <header className="chat-head">
        <label className="chat-agent">
          <span className="visually-hidden">{texts.agent}</span>
          <select
            className="chat-picker"
            value={agent.name}
            onChange={(event) => go({ page: 'chat', agent: event.target.value })}
          >
            {session.agents.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </label>
        <p className="muted small chat-about">{agent.description}</p>
      </header>
      <Conversation agent={agent} thread={thread} snapshot={snapshot} onSuggestion={send} />
      <Composer
        agent={agent.name}
        isRunning={status === 'running'}
        onSend={send}
        onStop={() => void thread.stop()}
      />
    </div>
  )
}
