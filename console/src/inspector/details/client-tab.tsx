import { useMemo, type ReactNode } from 'react'
import type { Message } from '@ag-ui/core'
import { useTexts } from '../../i18n/use-texts.js'
import { JsonTree } from '../../ui/json-tree.js'
import { changedPaths } from '../model/json.js'
import type { RunRecord } from '../source/run-record.js'

interface ClientTabProps {
  readonly record: RunRecord
  readonly index: number
}

/** What the client holds after the event. What the event has changed is lit. */
export function ClientTab({ record, index }: ClientTabProps): ReactNode {
  const texts = useTexts()
  const { travel } = record
  // Forwards, so that the second is one step from the first.
  const before = travel.at(index - 1)
  const content = travel.at(index)
  const changed = useMemo(() => changedPaths(before.state, content.state), [before, content])
  return (
    <>
      <section className="details-section" aria-label={texts.insInterrupts}>
        <h3>
          {texts.insInterrupts} <span className="badge">{content.interrupts.length}</span>
        </h3>
        {content.interrupts.map((interrupt, number) => (
          <JsonTree key={number} value={interrupt} />
        ))}
      </section>
      <section className="details-section" aria-label={texts.insState}>
        <h3>
          {texts.insState}
          {changed.size > 0 && <span className="badge badge-warn">{texts.insChanged(changed.size)}</span>}
        </h3>
        <JsonTree value={content.state} lit={changed} />
      </section>
      <Messages messages={content.messages} before={before.messages} />
    </>
  )
}

/** Long threads show their end, where the run goes on. */
const maxMessages = 60

interface MessagesProps {
  readonly messages: readonly Message[]
  readonly before: readonly Message[]
}

function Messages({ messages, before }: MessagesProps): ReactNode {
  const texts = useTexts()
  const known = useMemo(() => new Set(before), [before])
  const hidden = Math.max(0, messages.length - maxMessages)
  return (
    <section className="details-section" aria-label={texts.insMessages}>
      <h3>
        {texts.insMessages} <span className="badge">{messages.length}</span>
      </h3>
      {hidden > 0 && <p className="muted tiny">{texts.insEarlier(hidden)}</p>}
      {messages.slice(hidden).map((message, number) => (
        <article key={`${message.id} ${number}`} className="details-message" data-lit={!known.has(message)}>
          <span className="details-message-role">{message.role}</span>
          <MessageText message={message} />
        </article>
      ))}
    </section>
  )
}

function MessageText({ message }: { readonly message: Message }): ReactNode {
  const { content } = message as { readonly content?: unknown }
  const calls = message.role === 'assistant' ? (message.toolCalls ?? []) : []
  const error = message.role === 'tool' ? message.error : undefined
  return (
    <div className="details-message-text">
      {typeof content === 'string'
        ? content
        : content !== undefined && <JsonTree value={content} depth={1} />}
      {error !== undefined && <span className="badge badge-bad">{error}</span>}
      {calls.map(({ id, function: { name, arguments: args } }) => (
        <span key={id} className="details-message-call">
          {name}({args})
        </span>
      ))}
    </div>
  )
}
