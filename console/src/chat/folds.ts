import { useState } from 'react'
import { useChat } from './chat-context.js'

/** What the person has opened and closed. Rows leave the page when they are scrolled away, and come back as they were. */
export type Folds = Map<string, boolean>

/** Whether a row is open: as the person has left it, or else by default. */
export function useFold(key: string, byDefault: boolean): [boolean, () => void] {
  const { folds } = useChat()
  const [chosen, setChosen] = useState(() => folds.get(key))
  const isOpen = chosen ?? byDefault
  const toggle = (): void => {
    folds.set(key, !isOpen)
    setChosen(!isOpen)
  }
  return [isOpen, toggle]
}
