import { useMemo, type ReactNode } from 'react'
import { useTexts } from '../i18n/use-texts.js'
import type { Route } from '../router.js'
import { useApi } from '../session/use-api.js'
import { Notice } from '../ui/notice.js'
import { Chat } from './chat.js'

/** A conversation with an agent. */
export function ChatPage({ route }: { readonly route: Route & { readonly page: 'chat' } }): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  const agent = session.agents.find(({ name }) => name === route.agent) ?? session.agents[0]
  // A thread that is not there yet gets its id here, and its address when something is sent.
  const newId = useNewId(route)
  if (!agent) return <Notice title={texts.agents}>{texts.nothingFound}</Notice>
  const threadId = route.threadId ?? newId
  return (
    <Chat
      key={`${agent.name}/${threadId}`}
      agent={agent}
      threadId={threadId}
      isNew={route.threadId === undefined}
    />
  )
}

/** The id that a new thread will have. It stays when the thread gets its address. */
function useNewId({ agent, threadId }: Route & { readonly page: 'chat' }): string {
  return useMemo(() => threadId ?? crypto.randomUUID(), [agent, threadId])
}
