import { useState, type ReactNode } from 'react'
import type { ThreadInfo } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { hrefOf } from '../router.js'
import { useApi } from '../session/use-api.js'
import { Icon } from '../ui/icon.js'
import { threadsChanged } from './threads-changed.js'

interface ThreadItemProps {
  readonly agent: string
  readonly thread: ThreadInfo
  readonly isCurrent: boolean
  readonly onRemove: () => void
}

/** A thread in the list, with what can be done to it. */
export function ThreadItem({ agent, thread, isCurrent, onRemove }: ThreadItemProps): ReactNode {
  const texts = useTexts()
  const [isRenamed, setRenamed] = useState(false)
  const { threadId, status, forkedFrom } = thread
  const title = thread.title || threadId
  if (isRenamed)
    return (
      <li>
        <RenameThread agent={agent} thread={thread} onClose={() => setRenamed(false)} />
      </li>
    )
  return (
    <li className="thread-item" data-current={isCurrent}>
      <a
        className="thread-link"
        href={hrefOf({ page: 'chat', agent, threadId })}
        aria-current={isCurrent ? 'page' : undefined}
        title={title}
      >
        {forkedFrom !== undefined && (
          <span className="thread-branch" title={texts.branch}>
            <Icon name="branch" size={13} />
            <span className="visually-hidden">{texts.branch}</span>
          </span>
        )}
        <span className="thread-title">{title}</span>
        {status === 'running' && (
          <span className="thread-dot" title={texts.statusRunning}>
            <span className="visually-hidden">{texts.statusRunning}</span>
          </span>
        )}
        {status === 'interrupted' && <span className="badge badge-warn">{texts.statusInterrupted}</span>}
      </a>
      <span className="thread-tools">
        <button
          type="button"
          className="copy-button"
          aria-label={texts.renameThread(title)}
          title={texts.rename}
          onClick={() => setRenamed(true)}
        >
          <Icon name="edit" size={14} />
        </button>
        <button
          type="button"
          className="copy-button"
          aria-label={texts.removeThread(title)}
          title={texts.remove}
          onClick={onRemove}
        >
          <Icon name="bin" size={14} />
        </button>
      </span>
    </li>
  )
}

interface RenameThreadProps {
  readonly agent: string
  readonly thread: ThreadInfo
  readonly onClose: () => void
}

function RenameThread({ agent, thread, onClose }: RenameThreadProps): ReactNode {
  const texts = useTexts()
  const { client } = useApi()
  const [title, setTitle] = useState(thread.title)
  const [problem, setProblem] = useState<string>()
  const save = async (): Promise<void> => {
    try {
      await client.threads.rename(agent, thread.threadId, title.trim())
      threadsChanged.notify()
      onClose()
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error))
    }
  }
  return (
    <form
      className="thread-rename"
      onSubmit={(event) => {
        event.preventDefault()
        void save()
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') onClose()
      }}
    >
      <input
        className="field"
        aria-label={texts.threadTitle}
        autoFocus
        required
        maxLength={256}
        value={title}
        onChange={(event) => setTitle(event.target.value)}
      />
      <button className="button" disabled={title.trim() === ''}>
        {texts.save}
      </button>
      {problem !== undefined && (
        <p className="tiny thread-problem" role="alert">
          {problem}
        </p>
      )}
    </form>
  )
}
