import { useId, type ReactNode } from 'react'
import { Icon } from './icon.js'
import './fold.css'

interface FoldProps {
  readonly isOpen: boolean
  readonly onToggle: () => void
  readonly head: ReactNode
  readonly className?: string
  readonly children: ReactNode
}

/** A line that opens what is below it. */
export function Fold({ isOpen, onToggle, head, className = '', children }: FoldProps): ReactNode {
  const id = useId()
  return (
    <section className={`fold ${className}`} data-open={isOpen}>
      <button
        type="button"
        className="fold-head"
        aria-expanded={isOpen}
        aria-controls={isOpen ? id : undefined}
        onClick={onToggle}
      >
        <span className="fold-mark">
          <Icon name="chevron" size={14} />
        </span>
        {head}
      </button>
      {isOpen && (
        <div id={id} className="fold-body">
          {children}
        </div>
      )}
    </section>
  )
}
