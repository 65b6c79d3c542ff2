import { useId, useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { choicesOf, fieldKind, membersOf, type JsonSchema } from './json-schema.js'
import './schema-form.css'

interface FieldProps {
  readonly schema: JsonSchema
  readonly label: string
  readonly isRequired: boolean
  readonly value: unknown
  readonly onChange: (value: unknown) => void
}

interface SchemaFormProps {
  readonly schema: JsonSchema
  readonly value: unknown
  readonly onChange: (value: unknown) => void
  /** The name of a value that is no object. */
  readonly label: string
}

/** Fields for a value of a schema, to stand in a form. */
export function SchemaForm({ schema, value, onChange, label }: SchemaFormProps): ReactNode {
  if (fieldKind(schema) === 'object') return <Members schema={schema} value={value} onChange={onChange} />
  return <Field schema={schema} label={schema.title ?? label} isRequired value={value} onChange={onChange} />
}

function Members({ schema, value, onChange }: Pick<FieldProps, 'schema' | 'value' | 'onChange'>): ReactNode {
  const fields = (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
  const set = (key: string, next: unknown): void => {
    const { [key]: _before, ...rest } = fields
    onChange(next === undefined ? rest : { ...fields, [key]: next })
  }
  return (
    <div className="schema-fields">
      {membersOf(schema).map(([key, member]) => (
        <Field
          key={key}
          schema={member}
          label={member.title ?? key}
          isRequired={schema.required?.includes(key) ?? false}
          value={fields[key]}
          onChange={(next) => set(key, next)}
        />
      ))}
    </div>
  )
}

function Field(props: FieldProps): ReactNode {
  const { schema, label, isRequired, value, onChange } = props
  const id = useId()
  const kind = fieldKind(schema)
  if (kind === 'object')
    return (
      <fieldset className="schema-group">
        <legend className="small">{label}</legend>
        <Members schema={schema} value={value} onChange={onChange} />
      </fieldset>
    )
  if (kind === 'boolean')
    return (
      <label className="schema-check small">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange(event.target.checked)}
        />
        {label}
        {schema.description !== undefined && <span className="muted"> · {schema.description}</span>}
      </label>
    )
  return (
    <div className="schema-field">
      <label className="small" htmlFor={id}>
        {label}
        {isRequired && <span aria-hidden="true"> *</span>}
      </label>
      {schema.description !== undefined && <span className="muted tiny">{schema.description}</span>}
      {kind === 'choice' && <Choice {...props} id={id} />}
      {kind === 'text' && <TextInput {...props} id={id} />}
      {kind === 'number' && <NumberInput {...props} id={id} />}
      {kind === 'json' && <JsonInput {...props} id={id} />}
    </div>
  )
}

type InputProps = FieldProps & { readonly id: string }

function Choice({ id, schema, isRequired, value, onChange }: InputProps): ReactNode {
  const choices = choicesOf(schema)
  const at = choices.indexOf(value)
  return (
    <select
      id={id}
      className="field"
      required={isRequired}
      value={at === -1 ? '' : String(at)}
      onChange={(event) =>
        onChange(event.target.value === '' ? undefined : choices[Number(event.target.value)])
      }
    >
      {(at === -1 || !isRequired) && <option value="" />}
      {choices.map((choice, index) => (
        <option key={index} value={index}>
          {String(choice)}
        </option>
      ))}
    </select>
  )
}

const inputTypes: Readonly<Record<string, string>> = {
  ...{ email: 'email', uri: 'url', date: 'date', time: 'time', password: 'password' },
}

const longText = 80

function TextInput({ id, schema, isRequired, value, onChange }: InputProps): ReactNode {
  const text = typeof value === 'string' ? value : ''
  const [isLong] = useState(text.length > longText || text.includes('\n'))
  const common = {
    ...{ id, className: 'field', required: isRequired, value: text },
    ...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength }),
    onChange: (event: { readonly target: { readonly value: string } }) =>
      onChange(event.target.value === '' && !isRequired ? undefined : event.target.value),
  }
  if (isLong) return <textarea {...common} rows={4} />
  return <input {...common} type={inputTypes[schema.format ?? ''] ?? 'text'} />
}

function NumberInput({ id, schema, isRequired, value, onChange }: InputProps): ReactNode {
  return (
    <input
      id={id}
      className="field"
      type="number"
      step={schema.type === 'integer' ? 1 : 'any'}
      min={schema.minimum}
      max={schema.maximum}
      required={isRequired}
      value={typeof value === 'number' ? value : ''}
      onChange={(event) => onChange(event.target.value === '' ? undefined : event.target.valueAsNumber)}
    />
  )
}

/** JSON as text. What cannot be read is refused by the form. */
export function JsonInput({
  id,
  isRequired,
  value,
  onChange,
}: Omit<InputProps, 'schema' | 'label'>): ReactNode {
  const texts = useTexts()
  const [text, setText] = useState(() => (value === undefined ? '' : JSON.stringify(value, undefined, 2)))
  return (
    <textarea
      id={id}
      className="field mono"
      rows={Math.min(14, Math.max(3, text.split('\n').length))}
      spellCheck={false}
      required={isRequired}
      value={text}
      onChange={(event) => {
        const { target } = event
        setText(target.value)
        try {
          onChange(target.value.trim() === '' ? undefined : JSON.parse(target.value))
          target.setCustomValidity('')
        } catch {
          target.setCustomValidity(texts.noJson)
        }
      }}
    />
  )
}
