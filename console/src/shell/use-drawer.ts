import { useEffect, useRef, useState, type RefObject } from 'react'

interface Drawer {
  readonly isOpen: boolean
  readonly open: () => void
  readonly close: () => void
  /** The button that opens it: it has the focus again when the drawer closes. */
  readonly opener: RefObject<HTMLButtonElement | null>
  /** What has the focus when the drawer opens. */
  readonly first: RefObject<HTMLButtonElement | null>
}

/** A side of the page that lies over it on small screens. Escape closes it; the page behind it is inert meanwhile. */
export function useDrawer(): Drawer {
  const [isOpen, setOpen] = useState(false)
  const opener = useRef<HTMLButtonElement>(null)
  const first = useRef<HTMLButtonElement>(null)
  const close = (): void => setOpen(false)
  useEffect(() => {
    if (!isOpen) return
    const button = opener.current
    first.current?.focus()
    const onKey = (event: KeyboardEvent): void => {
      if (event.key === 'Escape' && !event.defaultPrevented) close()
    }
    // On a wide screen there is no drawer.
    const wide = matchMedia('(min-width: 821px)')
    document.addEventListener('keydown', onKey)
    wide.addEventListener('change', close)
    return () => {
      document.removeEventListener('keydown', onKey)
      wide.removeEventListener('change', close)
      button?.focus()
    }
  }, [isOpen])
  return { isOpen, open: () => setOpen(true), close, opener, first }
}
