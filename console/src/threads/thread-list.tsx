import { useDeferredValue, useState, type ReactNode } from 'react'
import type { ThreadInfo } from 'millrace/client'
import { useTexts } from '../i18n/use-texts.js'
import { go, hrefOf, useRoute } from '../router.js'
import { useApi } from '../session/use-api.js'
import { Icon } from '../ui/icon.js'
import { RemoveThread } from './remove-thread.js'
import { ThreadItem } from './thread-item.js'
import { useThreads } from './use-threads.js'
import './thread-list.css'

/** The person's threads with the agent of the page. */
export function ThreadList(): ReactNode {
  const texts = useTexts()
  const { session } = useApi()
  const route = useRoute()
  const agent = ('agent' in route ? route.agent : undefined) ?? session.agents[0]?.name
  const current = route.page === 'chat' ? route.threadId : undefined
  const [search, setSearch] = useState('')
  const [removed, setRemoved] = useState<ThreadInfo>()
  const { threads, isLoaded, hasMore, loadMore } = useThreads(agent, useDeferredValue(search.trim()))
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
      <div className="threads-scroll">
        <ul className="plain">
          {threads.map((thread) => (
            <ThreadItem
              key={thread.threadId}
              agent={agent}
              thread={thread}
              isCurrent={thread.threadId === current}
              onRemove={() => setRemoved(thread)}
            />
          ))}
        </ul>
        {hasMore && (
          <button type="button" className="button threads-more" onClick={loadMore}>
            {texts.loadMore}
          </button>
        )}
        {isLoaded && threads.length === 0 && (
          <p className="muted tiny threads-empty">{search === '' ? texts.noThreads : texts.nothingFound}</p>
        )}
      </div>
      {removed && (
        <RemoveThread
          agent={agent}
          thread={removed}
          onClose={(isRemoved) => {
            setRemoved(undefined)
            if (isRemoved && removed.threadId === current) go({ page: 'chat', agent })
          }}
        />
      )}
    </section>
  )
}
