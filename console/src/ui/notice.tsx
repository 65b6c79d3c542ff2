import type { ReactNode } from 'react'
import './notice.css'

interface NoticeProps {
  readonly title?: string
  readonly action?: { readonly label: string; readonly run: () => void }
  readonly children?: ReactNode
}

/** What a page says when it has nothing to show: loading, empty, failed. */
export function Notice({ title, action, children }: NoticeProps): ReactNode {
  return (
    <div className="notice" role="status">
      {title !== undefined && <h2>{title}</h2>}
      {children !== undefined && <p className="muted">{children}</p>}
      {action && (
        <button className="button" onClick={action.run}>
          {action.label}
        </button>
      )}
    </div>
  )
}
