import { useId, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { fieldKind, type JsonSchema } from '../ui/json-schema.js'
import { JsonInput, SchemaForm } from '../ui/schema-form.js'

interface ArgumentsEditorProps {
  readonly schema: JsonSchema
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

/** The arguments of a call, as fields or as JSON. */
export function ArgumentsEditor({ schema, value, onChange }: ArgumentsEditorProps): ReactNode {
  const texts = useTexts()
  const id = useId()
  const hasFields = fieldKind(schema) === 'object'
  const [isJson, setJson] = useState(!hasFields)
  return (
    <div className="arguments-editor">
      {hasFields && (
        <div className="arguments-modes" role="group" aria-label={texts.editArguments}>
          <button type="button" className="button" aria-pressed={!isJson} onClick={() => setJson(false)}>
            {texts.asForm}
          </button>
          <button type="button" className="button" aria-pressed={isJson} onClick={() => setJson(true)}>
            JSON
          </button>
        </div>
      )}
      {isJson ? (
        <div className="schema-field">
          <label className="small" htmlFor={id}>
            {texts.arguments}
          </label>
          <JsonInput id={id} isRequired value={value} onChange={onChange} />
        </div>
      ) : (
        <SchemaForm schema={schema} value={value} onChange={onChange} label={texts.arguments} />
      )}
    </div>
  )
}
