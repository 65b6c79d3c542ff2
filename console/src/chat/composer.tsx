import { useRef, useState, type ReactNode } from 'react'
import type { Thread } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import { useAttachments } from './use-attachments.js'
import { AttachmentList } from './attachment-list.js'
import './composer.css'

type Content = Parameters<Thread['send']>[0]

interface ComposerProps {
  readonly agent: string
  readonly isRunning: boolean
  /** Open interrupts are answered first. */
  readonly isBlocked: boolean
  readonly onSend: (content: Content) => void
  readonly onStop: () => void
}

/** Where the person writes. Enter sends, Shift+Enter begins a line, Escape stops the agent. Files are pasted, dropped or chosen. */
export function Composer({ agent, isRunning, isBlocked, onSend, onStop }: ComposerProps): ReactNode {
  const texts = useTexts()
  const [text, setText] = useState('')
  const { attachments, problems, attach, remove, clear } = useAttachments()
  const [isDropTarget, setDropTarget] = useState(false)
  const field = useRef<HTMLTextAreaElement>(null)
  const chooser = useRef<HTMLInputElement>(null)
  const canSend = !isBlocked && (text.trim() !== '' || attachments.length > 0)
  const submit = (): void => {
    if (!canSend) return
    const parts = attachments.map(({ part }) => part)
    onSend(
      parts.length === 0
        ? text
        : [...(text.trim() === '' ? [] : [{ type: 'text' as const, text }]), ...parts],
    )
    setText('')
    clear()
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
      <div
        className="composer-box card"
        data-drop={isDropTarget}
        onDragOver={(event) => {
          if (!event.dataTransfer.types.includes('Files')) return
          event.preventDefault()
          setDropTarget(true)
        }}
        onDragLeave={() => setDropTarget(false)}
        onDrop={(event) => {
          event.preventDefault()
          setDropTarget(false)
          void attach([...event.dataTransfer.files])
        }}
      >
        <AttachmentList attachments={attachments} problems={problems} onRemove={remove} />
        <div className="composer-line">
          <input
            ref={chooser}
            hidden
            type="file"
            multiple
            onChange={(event) => {
              void attach([...(event.target.files ?? [])])
              event.target.value = ''
            }}
          />
          <button
            type="button"
            className="button button-icon composer-go"
            aria-label={texts.attach}
            onClick={() => chooser.current?.click()}
          >
            <Icon name="attach" />
          </button>
          <textarea
            ref={field}
            id="composer"
            className="composer-text"
            rows={1}
            aria-label={texts.message}
            placeholder={isBlocked ? texts.answerFirst : texts.writeMessage(agent)}
            value={text}
            onChange={(event) => setText(event.target.value)}
            onPaste={(event) => {
              const files = [...event.clipboardData.files]
              if (files.length === 0) return
              event.preventDefault()
              void attach(files)
            }}
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
            <button className="button button-primary composer-go" aria-label={texts.send} disabled={!canSend}>
              <Icon name="send" />
            </button>
          )}
        </div>
      </div>
    </form>
  )
}
