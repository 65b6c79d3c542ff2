import { useEffect, useRef, useState, type ReactNode } from 'react'
import type { ThreadSnapshot } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { textOf } from './content-view.js'

type AnnouncerProps = Pick<ThreadSnapshot, 'status' | 'interrupts' | 'messages'>

const maxWords = 1000

/** Tells screen readers what the agent does: that it works, the whole answer when it is there, what it asks. */
export function Announcer({ status, interrupts, messages }: AnnouncerProps): ReactNode {
  const texts = useTexts()
  const [words, setWords] = useState('')
  const before = useRef(status)
  useEffect(() => {
    const wasRunning = before.current === 'running'
    before.current = status
    if (status === 'running') setWords(texts.statusRunning)
    else if (wasRunning && status === 'interrupted')
      setWords(
        `${texts.statusInterrupted}: ${interrupts.map(({ message, reason }) => message ?? reason).join('. ')}`,
      )
    else if (wasRunning) {
      const answer = messages.findLast(({ role, content }) => role === 'assistant' && content !== undefined)
      setWords(answer?.role === 'assistant' ? textOf(answer.content).slice(0, maxWords) : '')
    }
    // The words are those of the moment when the status changes.
  }, [status])
  return (
    <p className="visually-hidden" role="status" aria-live="polite">
      {words}
    </p>
  )
}
