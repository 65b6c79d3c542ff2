import { useId, useState, type ReactNode } from 'react'
import type { ViewProps } from './component-view.js'
import { useProperty, useSurface } from './surface-context.js'
import { resolvePath, toFields } from './surface-model.js'

/** A value that the person can change: in the data if it stands there, or else here alone. */
function useBound(property: unknown, scope: string): [unknown, (value: unknown) => void] {
  const surface = useSurface()
  const { value } = useProperty(scope)
  const { path } = toFields(property)
  const [own, setOwn] = useState(property)
  if (typeof path !== 'string') return [own, setOwn]
  return [value(property), (next) => surface.write(resolvePath(scope, path), next)]
}

function shown(value: unknown): string {
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}

export function TextFieldView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const [value, setValue] = useBound(component.value, scope)
  const id = useId()
  const { variant } = component
  const common = { id, className: 'field', value: shown(value) }
  return (
    <div className="schema-field">
      <label className="small" htmlFor={id}>
        {text(component.label)}
      </label>
      {variant === 'longText' ? (
        <textarea {...common} rows={3} onChange={(event) => setValue(event.target.value)} />
      ) : (
        <input
          {...common}
          type={variant === 'number' ? 'number' : variant === 'obscured' ? 'password' : 'text'}
          onChange={(event) =>
            setValue(variant === 'number' ? event.target.valueAsNumber : event.target.value)
          }
        />
      )}
    </div>
  )
}

export function CheckBoxView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const [value, setValue] = useBound(component.value, scope)
  return (
    <label className="schema-check small">
      <input type="checkbox" checked={value === true} onChange={(event) => setValue(event.target.checked)} />
      {text(component.label)}
    </label>
  )
}

export function ChoiceView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const [value, setValue] = useBound(component.value, scope)
  const name = useId()
  const chosen: readonly unknown[] = Array.isArray(value) ? value : []
  const options = Array.isArray(component.options) ? component.options.map(toFields) : []
  const isOne = component.variant !== 'multipleSelection'
  return (
    <fieldset className="schema-group surface-column">
      <legend className="small">{text(component.label)}</legend>
      {options.map((option) => (
        <label key={String(option.value)} className="schema-check small">
          <input
            type={isOne ? 'radio' : 'checkbox'}
            name={name}
            checked={chosen.includes(option.value)}
            onChange={({ target }) => {
              const others = isOne ? [] : chosen.filter((one) => one !== option.value)
              setValue(target.checked ? [...others, option.value] : others)
            }}
          />
          {text(option.label)}
        </label>
      ))}
    </fieldset>
  )
}

export function SliderView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const [value, setValue] = useBound(component.value, scope)
  const { min = 0, max, step = 'any' } = component
  return (
    <label className="schema-field small">
      {text(component.label)} {shown(value)}
      <input
        type="range"
        min={Number(min)}
        max={Number(max)}
        step={typeof step === 'number' ? step : 'any'}
        value={Number(value ?? min)}
        onChange={(event) => setValue(event.target.valueAsNumber)}
      />
    </label>
  )
}

export function DateTimeView({ component, scope }: ViewProps): ReactNode {
  const { text } = useProperty(scope)
  const [value, setValue] = useBound(component.value, scope)
  const { enableDate = true, enableTime = false } = component
  const type = enableTime === true ? (enableDate === true ? 'datetime-local' : 'time') : 'date'
  return (
    <label className="schema-field small">
      {text(component.label)}
      <input
        className="field"
        type={type}
        value={shown(value)}
        onChange={(event) => setValue(event.target.value)}
      />
    </label>
  )
}
