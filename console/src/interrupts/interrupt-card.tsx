import { useId, useMemo, type ReactNode } from 'react'
import type { Answer, ThreadSnapshot } from 'millrace/client'
import { useChat } from '../chat/chat-context.js'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import { JsonText } from '../ui/json-text.js'
import { shapeOf } from './answer-shape.js'
import { ApprovalForm } from './approval-form.js'
import { askedCall } from './asked-call.js'
import { AnswerForm } from './answer-form.js'

interface InterruptCardProps {
  readonly interrupt: ThreadSnapshot['interrupts'][number]
  readonly messages: ThreadSnapshot['messages']
  readonly answer: Answer | undefined
  readonly isSending: boolean
  /** Undefined takes the answer back. */
  readonly onAnswer: (answer: Answer | undefined) => void
}

/** One interrupt: what it asks, the call that it is about, and the ways to answer. */
export function InterruptCard(props: InterruptCardProps): ReactNode {
  const { interrupt, messages, answer, isSending, onAnswer } = props
  const texts = useTexts()
  const { agent } = useChat()
  const titleId = useId()
  const { id: interruptId, message, reason, responseSchema, expiresAt } = interrupt
  const call = useMemo(() => askedCall(interrupt, messages, agent), [interrupt, messages, agent])
  const shape = useMemo(() => shapeOf(responseSchema), [responseSchema])
  const resolve = (payload: unknown): void => onAnswer({ interruptId, status: 'resolved', payload })
  const cancel = (): void => onAnswer({ interruptId, status: 'cancelled' })
  return (
    <section className="interrupt card" role="group" aria-labelledby={titleId}>
      <h3 id={titleId} className="interrupt-title">
        <Icon name="warn" size={16} />
        <span>{message ?? texts.asks(reason)}</span>
      </h3>
      {call && (
        <div className="interrupt-call">
          <span className="mono small">{call.name}</span>
          <JsonText text={JSON.stringify(call.arguments)} label={texts.arguments} />
        </div>
      )}
      {expiresAt !== undefined && <p className="tiny muted">{texts.answerUntil(inWords(expiresAt))}</p>}
      {answer ? (
        <div className="interrupt-actions">
          <span className="badge badge-accent">{describe(answer, texts)}</span>
          {!isSending && (
            <button type="button" className="button" onClick={() => onAnswer(undefined)}>
              {texts.change}
            </button>
          )}
        </div>
      ) : (
        <fieldset className="interrupt-fields" disabled={isSending}>
          {shape.type === 'approval' || shape.type === 'decision' ? (
            <ApprovalForm shape={shape} call={call} onResolve={resolve} onCancel={cancel} />
          ) : (
            <AnswerForm shape={shape} onResolve={resolve} onCancel={cancel} />
          )}
        </fieldset>
      )}
    </section>
  )
}

function describe(
  { status, payload }: Answer,
  texts: Pick<ReturnType<typeof useTexts>, 'cancelled' | 'approved' | 'rejected' | 'answered'>,
): string {
  if (status === 'cancelled') return texts.cancelled
  const fields = (typeof payload === 'object' && payload !== null ? payload : {}) as Record<string, unknown>
  const given = Object.values(fields)
  if (fields.type === 'reject' || given.includes(false)) return texts.rejected
  return fields.type === 'approve' || given.includes(true) ? texts.approved : texts.answered
}

function inWords(expiresAt: string): string {
  const date = new Date(expiresAt)
  return Number.isNaN(date.getTime()) ? expiresAt : date.toLocaleString()
}
