import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import { Icon } from '../ui/icon.js'
import { AddMember, EditValue } from './state-inputs.js'

/** A change that the person makes. */
export type StateEdit =
  | { readonly op: 'add' | 'replace'; readonly path: readonly (string | number)[]; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: readonly (string | number)[] }

interface StateNodeProps {
  readonly path: readonly (string | number)[]
  readonly value: unknown
  /** The value before the latest change. */
  readonly before: unknown
  readonly onEdit: (edit: StateEdit) => void
}

const shownMembers = 200

/** A value of the state with all that is in it. */
export function StateNode(props: StateNodeProps): ReactNode {
  return typeof props.value === 'object' && props.value !== null ? <Branch {...props} /> : <Leaf {...props} />
}

function Branch({ path, value, before, onEdit }: StateNodeProps): ReactNode {
  const texts = useTexts()
  const isRoot = path.length === 0
  const isList = Array.isArray(value)
  const [isOpen, setOpen] = useState(path.length < 3)
  const [isAdding, setAdding] = useState(false)
  const [shown, setShown] = useState(shownMembers)
  const entries = Object.entries(value as object) as [string, unknown][]
  const name = isRoot ? texts.sharedState : String(path.at(-1))
  const members = (
    <ul className="plain state-members">
      {entries.slice(0, shown).map(([key, member]) => (
        <li key={key}>
          <StateNode
            path={[...path, isList ? Number(key) : key]}
            value={member}
            before={memberOf(before, key)}
            onEdit={onEdit}
          />
        </li>
      ))}
      {entries.length > shown && (
        <li>
          <button type="button" className="button" onClick={() => setShown(shown + shownMembers)}>
            {texts.more} ({entries.length - shown})
          </button>
        </li>
      )}
      <li>
        {isAdding ? (
          <AddMember
            isList={isList}
            onCancel={() => setAdding(false)}
            onAdd={(key, added) => {
              setAdding(false)
              onEdit({ op: 'add', path: [...path, isList ? '-' : key], value: added })
            }}
          />
        ) : (
          <button
            type="button"
            className="state-add tiny"
            aria-label={texts.addTo(name)}
            onClick={() => setAdding(true)}
          >
            <Icon name="plus" size={13} />
            {texts.add}
          </button>
        )}
      </li>
    </ul>
  )
  if (isRoot) return members
  return (
    <>
      <div className="state-line" data-lit={before === undefined}>
        <button
          type="button"
          className="state-toggle"
          aria-expanded={isOpen}
          data-open={isOpen}
          onClick={() => setOpen(!isOpen)}
        >
          <Icon name="chevron" size={12} />
          <span className="state-key">{name}</span>
          <span className="muted tiny">{isList ? `[${entries.length}]` : `{${entries.length}}`}</span>
        </button>
        <Remove name={name} onRemove={() => onEdit({ op: 'remove', path })} />
      </div>
      {isOpen && <div className="state-inner">{members}</div>}
    </>
  )
}

function Leaf({ path, value, before, onEdit }: StateNodeProps): ReactNode {
  const texts = useTexts()
  const [isEdited, setEdited] = useState(false)
  const name = String(path.at(-1) ?? '')
  const text = JSON.stringify(value)
  return (
    <div className="state-line">
      <span className="state-key">{name}</span>
      {isEdited ? (
        <EditValue
          name={name}
          value={value}
          onCancel={() => setEdited(false)}
          onSave={(next) => {
            setEdited(false)
            onEdit({ op: 'replace', path, value: next })
          }}
        />
      ) : (
        <button
          // A new element for each value, so that each change is lit.
          key={text}
          type="button"
          className={`state-value mono state-${value === null ? 'null' : typeof value}`}
          data-lit={value !== before}
          aria-label={texts.setValue(name, text)}
          onClick={() => setEdited(true)}
        >
          {text}
        </button>
      )}
      {!isEdited && <Remove name={name} onRemove={() => onEdit({ op: 'remove', path })} />}
    </div>
  )
}

function Remove({ name, onRemove }: { readonly name: string; readonly onRemove: () => void }): ReactNode {
  const texts = useTexts()
  return (
    <button type="button" className="state-remove" aria-label={texts.removeFrom(name)} onClick={onRemove}>
      <Icon name="close" size={13} />
    </button>
  )
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[key] : undefined
}
