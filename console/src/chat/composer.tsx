import { useRef, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import './composer.css'

interface ComposerProps {
  readonly agent: string
  readonly isRunning: boolean
  readonly onSend: (text: string) => void
  readonly onStop: () => void
}

/** Where the person writes. Enter sends, Shift+Enter begins a line, Escape stops the agent. */
export function Composer({ agent, isRunning, onSend, onStop }: ComposerProps): ReactNode {
  const texts = useTexts()
  const [text, setText] = useState('')
  const field = useRef<HTMLTextAreaElement>(null)
  const submit = (): void => {
    if (text.trim() === '') return
    onSend(text)
    setText('')
    field.current?.focus()
  }
  return (
    <form
      className="composer"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
    >
      <div className="composer-box card">
        <textarea
          ref={field}
          className="composer-text"
          rows={1}
          aria-label={texts.message}
          placeholder={texts.writeMessage(agent)}
          value={text}
          onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => {
            if (event.key === 'Escape' && isRunning) onStop()
            // Enter also ends the input of Chinese and Japanese characters.
            if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
            event.preventDefault()
            submit()
          }}
        />
        {isRunning ? (
          <button type="button" className="button composer-go" aria-label={texts.stop} onClick={onStop}>
            <Icon name="stop" />
          </button>
        ) : (
          <button
            className="button button-primary composer-go"
            aria-label={texts.send}
            disabled={text.trim() === ''}
          >
            <Icon name="send" />
          </button>
        )}
      </div>
    </form>
  )
}
