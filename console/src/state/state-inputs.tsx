import { useState, type KeyboardEvent, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { readValue } from './pointer.js'

interface EditValueProps {
  readonly name: string
  readonly value: unknown
  readonly onSave: (value: unknown) => void
  readonly onCancel: () => void
}

/** A value as text. A text stays one; anything else is read as JSON. */
export function EditValue({ name, value, onSave, onCancel }: EditValueProps): ReactNode {
  const texts = useTexts()
  const isText = typeof value === 'string'
  const [text, setText] = useState(isText ? value : JSON.stringify(value))
  return (
    <form
      className="state-form"
      onSubmit={(event) => {
        event.preventDefault()
        onSave(isText ? text : readValue(text))
      }}
      onKeyDown={(event) => leaveOnEscape(event, onCancel)}
    >
      <input
        className="field mono state-input"
        aria-label={name}
        autoFocus
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button className="button state-save">{texts.save}</button>
    </form>
  )
}

interface AddMemberProps {
  readonly isList: boolean
  readonly onAdd: (key: string, value: unknown) => void
  readonly onCancel: () => void
}

export function AddMember({ isList, onAdd, onCancel }: AddMemberProps): ReactNode {
  const texts = useTexts()
  const [key, setKey] = useState('')
  const [text, setText] = useState('')
  return (
    <form
      className="state-form"
      onSubmit={(event) => {
        event.preventDefault()
        onAdd(key, readValue(text))
      }}
      onKeyDown={(event) => leaveOnEscape(event, onCancel)}
    >
      {!isList && (
        <input
          className="field mono state-input"
          placeholder={texts.key}
          aria-label={texts.key}
          autoFocus
          required
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
      )}
      <input
        className="field mono state-input"
        placeholder={texts.valueOrJson}
        aria-label={texts.valueOrJson}
        autoFocus={isList}
        value={text}
        onChange={(event) => setText(event.target.value)}
      />
      <button className="button state-save">{texts.add}</button>
    </form>
  )
}

function leaveOnEscape(event: KeyboardEvent, leave: () => void): void {
  if (event.key !== 'Escape') return
  event.stopPropagation()
  leave()
}
