import { useState, type ReactNode } from 'react'
import type { Answer, ThreadSnapshot } from 'millrace/client'
import { useChat } from '../chat/chat-context.js'
import { useTexts } from '../i18n/use-texts.js'
import { InterruptCard } from './interrupt-card.js'
import './interrupts.css'

interface InterruptCardsProps {
  readonly interrupts: ThreadSnapshot['interrupts']
  readonly messages: ThreadSnapshot['messages']
}

/** What the run asks the person. One answer is sent at once; several are collected and sent together. */
export function InterruptCards({ interrupts, messages }: InterruptCardsProps): ReactNode {
  const texts = useTexts()
  const { thread } = useChat()
  const [answers, setAnswers] = useState<ReadonlyMap<string, Answer>>(new Map())
  const [isSending, setSending] = useState(false)
  const open = interrupts.filter(({ id }) => !answers.has(id)).length
  const send = (all: ReadonlyMap<string, Answer>): void => {
    setSending(true)
    // The card goes, and the focus must not go with it.
    document.getElementById('composer')?.focus()
    void thread.resume([...all.values()]).then(() => setSending(false))
  }
  const decide = (id: string, answer: Answer | undefined): void => {
    const next = new Map(answers)
    if (answer) next.set(id, answer)
    else next.delete(id)
    setAnswers(next)
    if (answer && interrupts.length === 1) send(next)
  }
  return (
    <section className="interrupts" aria-label={texts.statusInterrupted}>
      {interrupts.map((interrupt) => (
        <InterruptCard
          key={interrupt.id}
          interrupt={interrupt}
          messages={messages}
          answer={answers.get(interrupt.id)}
          isSending={isSending}
          onAnswer={(answer) => decide(interrupt.id, answer)}
        />
      ))}
      {interrupts.length > 1 && (
        <div className="interrupts-send">
          <span className="small muted" role="status">
            {open === 0 ? texts.allAnswered : texts.stillOpen(open, interrupts.length)}
          </span>
          <button
            type="button"
            className="button button-primary"
            disabled={open > 0 || isSending}
            onClick={() => send(answers)}
          >
            {texts.sendAnswers(interrupts.length)}
          </button>
        </div>
      )}
    </section>
  )
}
