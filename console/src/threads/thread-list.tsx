import { useDeferredValue, useEffect, useState, type ReactNode } from 'react'
import type { ThreadInfo } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { hrefOf, useRoute } from '../router.js'
import { useApi } from '../session/use-api.js'
import { Icon } from '../ui/icon.js'
import { threadsChanged } from './threads-changed.js'
import './thread-list.css'

/** The person's threads with the agent of the page. */
export function ThreadList(): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  const route = useRoute()
  const agent = ('agent' in route ? route.agent : undefined) ?? session.agents[0]?.name
  const current = route.page === 'chat' ? route.threadId : undefined
  const [search, setSearch] = useState('')
  const threads = useThreads(agent, useDeferredValue(search))
  if (agent === undefined) return <div />
  return (
    <section className="threads" aria-label={texts.threads}>
      <a className="button" href={hrefOf({ page: 'chat', agent })}>
        <Icon name="plus" />
        {texts.newThread}
      </a>
      <input
        className="field threads-search"
        type="search"
        placeholder={texts.searchThreads}
        aria-label={texts.searchThreads}
        value={search}
        onChange={(event) => setSearch(event.target.value)}
      />
      <ul className="plain threads-items">
        {threads.map(({ threadId, title, status }) => (
          <li key={threadId}>
            <a
              className="thread-link"
              href={hrefOf({ page: 'chat', agent, threadId })}
              aria-current={threadId === current ? 'page' : undefined}
            >
              <span className="thread-title">{title || threadId}</span>
              {status === 'running' && <span className="thread-dot" title={texts.statusRunning} />}
              {status === 'interrupted' && (
                <span className="badge badge-warn">{texts.statusInterrupted}</span>
              )}
            </a>
          </li>
        ))}
      </ul>
      {threads.length === 0 && (
        <p className="muted tiny threads-empty">{search === '' ? texts.noThreads : texts.nothingFound}</p>
      )}
    </section>
  )
}

function useThreads(agent: string | undefined, search: string): readonly ThreadInfo[] {
  const { client } = useApi()
  const version = threadsChanged.use()
  const [threads, setThreads] = useState<readonly ThreadInfo[]>([])
  useEffect(() => {
    let isCurrent = true
    if (agent === undefined) return
    const page = search === '' ? client.threads.list(agent) : client.threads.search(agent, search)
    page.then(
      (list) => isCurrent && setThreads(list.threads),
      // The chat says that the server is away.
      () => undefined,
    )
    return () => {
      isCurrent = false
    }
  }, [client, agent, search, version])
  return threads
}
