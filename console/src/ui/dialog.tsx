import { useLayoutEffect, useRef, type ReactNode } from 'react'
import './dialog.css'

interface DialogProps {
  readonly title: string
  readonly onClose: () => void
  readonly children: ReactNode
}

/** Asks something before anything else. Escape closes it, and the focus returns to where it was. */
export function Dialog({ title, onClose, children }: DialogProps): ReactNode {
  const element = useRef<HTMLDialogElement>(null)
  // Closed while it still stands in the page: only then does the focus return.
  useLayoutEffect(() => {
    const dialog = element.current
    dialog?.showModal()
    return () => dialog?.close()
  }, [])
  return (
    <dialog ref={element} className="dialog card" aria-label={title} onCancel={onClose}>
      <h2 className="dialog-title">{title}</h2>
      {children}
    </dialog>
  )
}
