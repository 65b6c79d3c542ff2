import { useState, type ReactNode } from 'react'
import { useTexts } from '../../i18n/use-texts.js'
import { useApi } from '../../session/use-api.js'
import { Dialog } from '../../ui/dialog.js'
import { forkMessages, lastQuestion } from '../model/fork.js'
import type { RunRecord } from '../source/run-record.js'
import { startRun } from './start-run.js'

interface ForkDialogProps {
  readonly record: RunRecord
  /** The event to fork from. Undefined: the request is edited and sent again. */
  readonly index?: number
  readonly onClose: () => void
}

/** Asks what a new thread is to say: after the messages held at an event, or in place of the last question. */
export function ForkDialog({ record, index, onClose }: ForkDialogProps): ReactNode {
  const texts = useTexts()
  const api = useApi()
  const [plan] = useState(() => planOf(record, index))
  const agents = api.session.agents.map(({ name }) => name)
  const [agent, setAgent] = useState(agents.find((name) => name === record.head.agent) ?? agents[0] ?? '')
  const [text, setText] = useState(plan.text)
  const [error, setError] = useState('')
  const [isSending, setSending] = useState(false)
  const canSend = text.trim() !== '' || plan.messages.at(-1)?.role === 'user'
  const send = (): void => {
    const asked = { id: crypto.randomUUID(), role: 'user' as const, content: text.trim() }
    const messages = asked.content === '' ? plan.messages : [...plan.messages, asked]
    setSending(true)
    startRun(api, { record, agent, messages, state: plan.state }).then(onClose, (failure: unknown) => {
      setSending(false)
      setError(failure instanceof Error ? failure.message : String(failure))
    })
  }
  return (
    <Dialog title={index === undefined ? texts.insRerun : texts.insFork} onClose={onClose}>
      <form
        className="fork-dialog"
        onSubmit={(event) => {
          event.preventDefault()
          send()
        }}
      >
        <p className="small muted">{texts.insForkHelp(plan.messages.length)}</p>
        {record.request ? (
          <p className="small mono">{record.request.url}</p>
        ) : (
          <label className="small">
            {texts.agent}
            <select className="field" value={agent} onChange={(event) => setAgent(event.target.value)}>
              {agents.map((name) => (
                <option key={name}>{name}</option>
              ))}
            </select>
          </label>
        )}
        <label className="small">
          {texts.message}
          <textarea
            className="field"
            rows={4}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        {error !== '' && (
          <p className="details-fault" role="alert">
            {error}
          </p>
        )}
        <div className="fork-dialog-buttons">
          <button type="button" className="button" onClick={onClose}>
            {texts.cancel}
          </button>
          <button className="button button-primary" disabled={!canSend || isSending}>
            {texts.insStart}
          </button>
        </div>
      </form>
    </Dialog>
  )
}

function planOf({ travel }: RunRecord, index: number | undefined) {
  const content = index === undefined ? travel.start : travel.at(index)
  if (index !== undefined) return { messages: forkMessages(content.messages), text: '', state: content.state }
  const { before, text } = lastQuestion(content.messages)
  return { messages: forkMessages(before), text, state: content.state }
}
