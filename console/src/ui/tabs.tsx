import { useId, useRef, type KeyboardEvent, type ReactNode } from 'react'
import './tabs.css'

interface Tab<K extends string> {
  readonly key: K
  readonly label: string
  /** A short note behind the label, such as a number. */
  readonly note?: string | undefined
}

interface TabsProps<K extends string> {
  readonly label: string
  readonly tabs: readonly Tab<K>[]
  readonly current: K
  readonly onChange: (key: K) => void
  readonly children: ReactNode
}

/** Several views of one thing. Arrow keys go from tab to tab. */
export function Tabs<K extends string>({
  label,
  tabs,
  current,
  onChange,
  children,
}: TabsProps<K>): ReactNode {
  const id = useId()
  const list = useRef<HTMLDivElement>(null)
  const move = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ key }) => key === current)
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    event.stopPropagation()
    const next = tabs[(at + step + tabs.length) % tabs.length]
    if (!next) return
    onChange(next.key)
    list.current?.querySelector<HTMLElement>(`[data-key="${next.key}"]`)?.focus()
  }
  return (
    <div className="tabs">
      <div className="tabs-list" role="tablist" aria-label={label} ref={list} onKeyDown={move}>
        {tabs.map(({ key, label: text, note }) => (
          <button
            key={key}
            type="button"
            role="tab"
            className="tabs-tab"
            data-key={key}
            id={`${id}-${key}`}
            aria-selected={key === current}
            aria-controls={`${id}-panel`}
            tabIndex={key === current ? 0 : -1}
            onClick={() => onChange(key)}
          >
            {text}
            {note !== undefined && <span className="tabs-note">{note}</span>}
          </button>
        ))}
      </div>
      <div
        className="tabs-panel"
        role="tabpanel"
        id={`${id}-panel`}
        aria-labelledby={`${id}-${current}`}
        tabIndex={0}
      >
        {children}
      </div>
    </div>
  )
}
