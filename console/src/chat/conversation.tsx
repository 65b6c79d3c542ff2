import type { ReactNode } from 'react'
import type { Thread, ThreadSnapshot } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import type { AgentNode } from '../session/contract.js'
import { Markdown } from '../ui/markdown.js'
import './conversation.css'

interface ConversationProps {
  readonly agent: AgentNode
  readonly thread: Thread
  readonly snapshot: ThreadSnapshot
  readonly onSuggestion: (text: string) => void
}

/** The messages, or what to try while there are none. */
export function Conversation({ agent, snapshot, onSuggestion }: ConversationProps): ReactNode {
  const texts = useTexts()
  const { messages, status, connection, error } = snapshot
  return (
    <div className="conversation" role="log" aria-label={texts.chat}>
      <div className="conversation-column">
        {messages.length === 0 && status !== 'loading' && (
          <Suggestions examples={agent.examples} onChoose={onSuggestion} />
        )}
        {messages.map((message) => (
          <article key={message.id} className={`message message-${message.role}`}>
            <Markdown text={typeof message.content === 'string' ? message.content : ''} />
          </article>
        ))}
        {connection === 'retrying' && <p className="badge badge-warn">{texts.connectionLost}</p>}
        {error && <p className="badge badge-bad">{error.message}</p>}
      </div>
    </div>
  )
}

interface SuggestionsProps {
  readonly examples: readonly string[]
  readonly onChoose: (text: string) => void
}

function Suggestions({ examples, onChoose }: SuggestionsProps): ReactNode {
  const texts = useTexts()
  if (examples.length === 0) return null
  return (
    <section className="suggestions" aria-label={texts.tryThis}>
      <h2 className="small muted">{texts.tryThis}</h2>
      {examples.map((example) => (
        <button key={example} className="card suggestion" onClick={() => onChoose(example)}>
          {example}
        </button>
      ))}
    </section>
  )
}
