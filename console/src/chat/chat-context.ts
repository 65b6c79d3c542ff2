import { createContext, use } from 'react'
import type { Thread } from 'millrace/client'
import type { AgentNode } from '../session/contract.js'
import type { Folds } from './folds.js'
import type { Consents } from './tools/consents.js'

/** What the parts of a conversation share. Nothing in it changes while the thread stays the same. */
export interface Chat {
  readonly agent: AgentNode
  readonly thread: Thread
  readonly folds: Folds
  readonly consents: Consents
  /** Begins to edit a message of the person. */
  readonly onEdit: (messageId: string | undefined) => void
  /** Sends what a person did on a surface that the agent has drawn. */
  readonly onSurfaceAction: (action: SurfaceAction) => void
}

export interface SurfaceAction {
  readonly name: string
  readonly surfaceId: string
  readonly sourceComponentId?: string
  readonly context: Readonly<Record<string, unknown>>
  readonly timestamp: string
}

export const ChatContext = createContext<Chat | undefined>(undefined)

export function useChat(): Chat {
  const chat = use(ChatContext)
  if (!chat) throw new Error('useChat needs a ChatContext')
  return chat
}
