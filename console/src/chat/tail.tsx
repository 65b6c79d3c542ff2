import { useEffect, useState, type ReactNode } from 'react'
import type { ThreadSnapshot } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { InterruptCards } from '../interrupts/interrupt-cards.js'
import { useChat } from './chat-context.js'
import { RunFailure } from './run-failure.js'
import type { Notes } from './thread-notes.js'
import { UsageLine } from './usage-line.js'
import './tail.css'

/** What stands below the last message: that the agent works, what it asks, why it failed, what it took. */
export function Tail({
  snapshot,
  notes,
}: {
  readonly snapshot: ThreadSnapshot
  readonly notes: Notes
}): ReactNode {
  const { status, interrupts, error, usage, messages } = snapshot
  return (
    <div className="message-tail">
      {status === 'running' && <Working notes={notes} />}
      {interrupts.length > 0 && <InterruptCards interrupts={interrupts} messages={messages} />}
      {status === 'waiting-for-tools' && <WaitingCalls count={snapshot.pendingToolCalls.length} />}
      {error && status !== 'running' && <RunFailure error={error} messages={messages} />}
      {status !== 'running' && usage.length > 0 && <UsageLine usage={usage} />}
    </div>
  )
}

function Working({ notes: { steps, attempt } }: { readonly notes: Notes }): ReactNode {
  const texts = useTexts()
  return (
    <p className="working muted small">
      <span className="working-dots" aria-hidden="true">
        <i />
        <i />
        <i />
      </span>
      {attempt === undefined
        ? steps.length > 0 && <span>{steps.join(' › ')}</span>
        : texts.triesAgain(attempt)}
      <span className="visually-hidden">{texts.statusRunning}</span>
    </p>
  )
}

/** Calls that waited when the page was loaded. Another tab may be at work on them, so the person decides. */
function WaitingCalls({ count }: { readonly count: number }): ReactNode {
  const texts = useTexts()
  const { thread } = useChat()
  const [isSent, setSent] = useState(false)
  useEffect(() => setSent(false), [count])
  return (
    <div className="card waiting-calls">
      <p className="small">{texts.waitingCalls(count)}</p>
      <button
        type="button"
        className="button"
        disabled={isSent}
        onClick={() => {
          setSent(true)
          void thread.runTools()
        }}
      >
        {texts.carryOut}
      </button>
    </div>
  )
}
