import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { initialValue, type JsonSchema } from '../ui/json-schema.js'
import { SchemaForm } from '../ui/schema-form.js'
import type { AnswerShape } from './answer-shape.js'

interface AnswerFormProps {
  readonly shape: Extract<AnswerShape, { readonly type: 'form' | 'text' }>
  readonly onResolve: (payload: unknown) => void
  readonly onCancel: () => void
}

const anyText: JsonSchema = { type: 'string' }

/** The answer as the schema wants it, or as text. */
export function AnswerForm({ shape, onResolve, onCancel }: AnswerFormProps): ReactNode {
  const texts = useTexts()
  const schema = shape.type === 'form' ? shape.schema : anyText
  const [value, setValue] = useState(() => initialValue(schema))
  return (
    <form
      className="interrupt-form"
      onSubmit={(event) => {
        event.preventDefault()
        onResolve(value)
      }}
    >
      <SchemaForm schema={schema} value={value} onChange={setValue} label={texts.answer} />
      <div className="interrupt-actions">
        <button className="button button-primary">{texts.sendAnswer}</button>
        <button type="button" className="button interrupt-cancel" onClick={onCancel}>
          {texts.cancel}
        </button>
      </div>
    </form>
  )
}
