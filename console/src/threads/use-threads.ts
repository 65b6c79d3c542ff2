import { useEffect, useState } from 'react'
import type { ThreadInfo } from 'millrace/client'
import { useApi } from '../session/use-api.js'
import { threadsChanged } from './threads-changed.js'

const pageSize = 30
const maxPage = 200

export interface ThreadPages {
  readonly threads: readonly ThreadInfo[]
  readonly isLoaded: boolean
  readonly hasMore: boolean
  readonly loadMore: () => void
}

interface Loaded {
  readonly key: string
  readonly threads: readonly ThreadInfo[]
  readonly hasMore: boolean
}

/** The person's threads with an agent, or those whose title has a text in it. Read again when they have changed. */
export function useThreads(agent: string | undefined, search: string): ThreadPages {
  const { client } = useApi()
  const version = threadsChanged.use()
  const key = `${agent ?? ''}\n${search}`
  const [wanted, setWanted] = useState(pageSize)
  const [loaded, setLoaded] = useState<Loaded>()
  useEffect(() => setWanted(pageSize), [key])
  useEffect(() => {
    let isCurrent = true
    if (agent === undefined) return
    const load = async (): Promise<void> => {
      const threads: ThreadInfo[] = []
      let cursor: string | undefined
      do {
        const page = {
          limit: Math.min(maxPage, wanted - threads.length),
          ...(cursor === undefined ? {} : { cursor }),
        }
        const list = await (search === ''
          ? client.threads.list(agent, page)
          : client.threads.search(agent, search, page))
        threads.push(...list.threads)
        cursor = list.nextCursor
      } while (cursor !== undefined && threads.length < wanted && isCurrent)
      if (isCurrent) setLoaded({ key, threads, hasMore: cursor !== undefined })
    }
    // The chat says that the server is away.
    load().catch(() => undefined)
    return () => {
      isCurrent = false
    }
  }, [client, agent, search, key, version, wanted])
  const isLoaded = loaded?.key === key
  return {
    threads: isLoaded ? loaded.threads : [],
    isLoaded,
    hasMore: isLoaded && loaded.hasMore,
    loadMore: () => setWanted(wanted + pageSize),
  }
}
