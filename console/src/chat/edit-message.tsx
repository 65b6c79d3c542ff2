import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { useChat } from './chat-context.js'
import { textOf } from './content-view.js'
import type { MessageOf } from './rows.js'

/** A message of the person as a form. Its pictures and files stay. */
export function EditMessage({ message }: { readonly message: MessageOf<'user'> }): ReactNode {
  const texts = useTexts()
  const { thread, onEdit } = useChat()
  const [text, setText] = useState(() => textOf(message.content))
  const submit = (): void => {
    const { content } = message
    const media = typeof content === 'string' ? [] : content.filter((part) => part.type !== 'text')
    onEdit(undefined)
    void thread.edit(message.id, media.length === 0 ? text : [{ type: 'text', text }, ...media])
  }
  return (
    <form
      className="edit-message card"
      onSubmit={(event) => {
        event.preventDefault()
        submit()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onEdit(undefined)
      }}
    >
      <textarea
        className="field composer-text"
        autoFocus
        aria-label={texts.editMessage}
        value={text}
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || event.shiftKey || event.nativeEvent.isComposing) return
          event.preventDefault()
          if (text.trim() !== '') submit()
        }}
      />
      <div className="edit-actions">
        <span className="muted tiny">{texts.editHelp}</span>
        <button type="button" className="button" onClick={() => onEdit(undefined)}>
          {texts.cancel}
        </button>
        <button className="button button-primary" disabled={text.trim() === ''}>
          {texts.send}
        </button>
      </div>
    </form>
  )
}
