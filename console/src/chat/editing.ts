import { createContext, use } from 'react'

/** The id of the message that the person edits. */
export const EditingContext = createContext<string | undefined>(undefined)

export function useEditing(): string | undefined {
  return use(EditingContext)
}
