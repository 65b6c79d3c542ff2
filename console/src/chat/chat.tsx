import { useMemo, useState, useSyncExternalStore, useEffect, type ReactNode } from 'react'
import { useThread } from 'millrace/react'
import { createSetting } from '../settings.js'
import { go } from '../router.js'
import { useApi } from '../session/use-api.js'
import type { AgentNode } from '../session/contract.js'
import { StatePanel } from '../state/state-panel.js'
import { threadsChanged } from '../threads/threads-changed.js'
import { Announcer } from './announcer.js'
import { BranchContext, useBranches } from './branches.js'
import { ChatContext, type Chat as ChatValue, type SurfaceAction } from './chat-context.js'
import { ChatHead } from './chat-head.js'
import { Composer } from './composer.js'
import { ConnectionBanner } from './connection-banner.js'
import { EditingContext } from './editing.js'
import { MessageList } from './message-list.js'
import { StatePlan } from './plan-list.js'
import { createRowBuilder } from './rows.js'
import { sendSurfaceAction } from './send-surface-action.js'
import { Suggestions } from './suggestions.js'
import { Tail } from './tail.js'
import { createThreadNotes } from './thread-notes.js'
import { createConsents } from './tools/consents.js'
import { createPageTools } from './tools/page-tools.js'
import './chat-page.css'

const statePanel = createSetting('state-panel', ['closed', 'open'], 'closed')

interface ChatProps {
  readonly agent: AgentNode
  readonly threadId: string
  readonly isNew: boolean
}

/** A thread: its messages, what it asks, its state, and where the person writes. */
export function Chat({ agent, threadId, isNew }: ChatProps): ReactNode {
  const api = useApi()
  const [parts] = useState(createParts)
  const { notes: threadNotes, consents, toRows } = parts
  const { thread, ...snapshot } = useThread(api.client, agent.name, {
    ...{ threadId, onEvent: threadNotes.onEvent, tools: parts.tools },
  })
  const notes = useSyncExternalStore(threadNotes.subscribe, threadNotes.getSnapshot)
  const [editing, setEditing] = useState<string>()
  const [problem, setProblem] = useState<string>()
  const isPanelOpen = statePanel.use() === 'open'
  const { status, messages, state, interrupts } = snapshot
  const rows = useMemo(() => toRows(messages, notes), [toRows, messages, notes])
  const isAtRest = status !== 'running' && status !== 'loading'
  const branches = useBranches({ agent: agent.name, threadId, messages, isAtRest, forks: notes.forks })
  useEffect(() => threadsChanged.notify(), [status])
  const chat = useMemo<ChatValue>(() => {
    const onSurfaceAction = (action: SurfaceAction): void => {
      setProblem(undefined)
      sendSurfaceAction(api, thread, action).then(setProblem, (error: unknown) => setProblem(String(error)))
    }
    return { agent, thread, consents, folds: parts.folds, onEdit: setEditing, onSurfaceAction }
  }, [api, agent, thread, consents, parts])
  const send = (content: Parameters<typeof thread.send>[0]): void => {
    if (isNew) go({ page: 'chat', agent: agent.name, threadId }, { replace: true })
    void thread.send(content)
  }
  const isEmpty = rows.length === 0 && isAtRest && snapshot.error === undefined
  return (
    <ChatContext value={chat}>
      <div className="chat" data-panel={isPanelOpen}>
        <div className="chat-main">
          <ChatHead
            agent={agent}
            isPanelOpen={isPanelOpen}
            hasState={typeof state === 'object' && state !== null && Object.keys(state).length > 0}
            onPanel={() => statePanel.set(isPanelOpen ? 'closed' : 'open')}
          />
          <ConnectionBanner connection={snapshot.connection} />
          {isEmpty ? (
            <div className="suggestions-scroll">
              <Suggestions agent={agent} onChoose={send} />
            </div>
          ) : (
            <BranchContext value={branches}>
              <EditingContext value={editing}>
                <MessageList rows={rows}>
                  <Tail snapshot={snapshot} notes={notes} />
                </MessageList>
              </EditingContext>
            </BranchContext>
          )}
          <div className="chat-foot">
            {problem !== undefined && (
              <p className="chat-problem small" role="alert">
                {problem}
              </p>
            )}
            <StatePlan state={state} isRunning={status === 'running'} />
            <Composer
              agent={agent.name}
              isRunning={status === 'running'}
              isBlocked={interrupts.length > 0}
              onSend={send}
              onStop={() => void thread.stop()}
            />
          </div>
          <Announcer status={status} interrupts={interrupts} messages={messages} />
        </div>
        {isPanelOpen && (
          <StatePanel
            thread={thread}
            state={state}
            status={status}
            onClose={() => statePanel.set('closed')}
          />
        )}
      </div>
    </ChatContext>
  )
}

/** What lives as long as the thread is shown. */
function createParts() {
  const consents = createConsents()
  return {
    ...{ notes: createThreadNotes(), consents, tools: createPageTools(consents) },
    ...{ folds: new Map<string, boolean>(), toRows: createRowBuilder() },
  }
}
