import { useState, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import './json-tree.css'

interface JsonTreeProps {
  readonly value: unknown
  /** JSON pointers of what is to be lit. */
  readonly lit?: ReadonlySet<string>
  /** How many levels are open at first. Default 2. */
  readonly depth?: number
}

/** A JSON value as a tree that folds. What is lit is open, whatever its depth. */
export function JsonTree({ value, lit = nothing, depth = 2 }: JsonTreeProps): ReactNode {
  return (
    <div className="json-tree mono">
      <Node value={value} path="" lit={lit} depth={depth} />
    </div>
  )
}

const nothing: ReadonlySet<string> = new Set()

interface NodeProps extends Required<JsonTreeProps> {
  readonly name?: string
  readonly path: string
}

function Node({ name, value, path, lit, depth }: NodeProps): ReactNode {
  const isLit = lit.has(path)
  const label = name === undefined ? null : <span className="json-tree-name">{name}: </span>
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0)
    return <Branch {...{ name: label, value, path, lit, depth }} />
  return (
    <div className="json-tree-leaf" data-lit={isLit}>
      {label}
      <Leaf value={value} />
    </div>
  )
}

/** More entries come when they are asked for. */
const pageSize = 100

interface BranchProps extends Required<Omit<JsonTreeProps, 'value'>> {
  readonly name: ReactNode
  readonly value: object
  readonly path: string
}

function Branch({ name, value, path, lit, depth }: BranchProps): ReactNode {
  const texts = useTexts()
  const hasLit = [...lit].some((one) => one.startsWith(`${path}/`))
  const [isOpen, setOpen] = useState<boolean>()
  const [shown, setShown] = useState(pageSize)
  const isShown = isOpen ?? (depth > 0 || hasLit)
  const entries: readonly (readonly [string, unknown])[] = Object.entries(value)
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}']
  return (
    <div className="json-tree-branch" data-lit={lit.has(path)}>
      <button
        type="button"
        className="json-tree-fold"
        aria-expanded={isShown}
        onClick={() => setOpen(!isShown)}
      >
        {name}
        <span className="muted">{isShown ? open : `${open} ${entries.length} ${close}`}</span>
      </button>
      {isShown && (
        <div className="json-tree-entries">
          {entries.slice(0, shown).map(([key, entry]) => (
            <Node
              key={key}
              name={key}
              value={entry}
              path={`${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`}
              lit={lit}
              depth={depth - 1}
            />
          ))}
          {entries.length > shown && (
            <button type="button" className="json-tree-more" onClick={() => setShown(shown + pageSize)}>
              {texts.insMore(entries.length - shown)}
            </button>
          )}
        </div>
      )}
      {isShown && <span className="muted">{close}</span>}
    </div>
  )
}

const maxText = 2000

function Leaf({ value }: { readonly value: unknown }): ReactNode {
  const texts = useTexts()
  const [isWhole, setWhole] = useState(false)
  const text = JSON.stringify(value) as string | undefined
  if (text === undefined) return <span className="muted">–</span>
  const isCut = text.length > maxText && !isWhole
  return (
    <>
      <span className={`json-tree-${value === null ? 'null' : typeof value}`}>
        {isCut ? text.slice(0, maxText) : text}
      </span>
      {isCut && (
        <button type="button" className="json-tree-more" onClick={() => setWhole(true)}>
          {texts.insMore(text.length - maxText)}
        </button>
      )}
    </>
  )
}
