import { useEffect, useState } from 'react'
import type { Api } from '../session/api.js'
import type { RunSummary } from '../session/contract.js'
import { useApi } from '../session/use-api.js'

/** As many runs as the page keeps: the newest. */
const maxRuns = 2000
const [firstRetryMs, maxRetryMs] = [500, 10_000]

/** The runs that the person may see, the newest first. */
export interface LiveRuns {
  /** Undefined until the server has told. */
  readonly runs: readonly RunSummary[] | undefined
  readonly isLost: boolean
}

/** Lists the runs, and follows what becomes of them. A list that breaks is read anew. */
export function useRuns(): LiveRuns {
  const api = useApi()
  const [live, setLive] = useState<LiveRuns>({ runs: undefined, isLost: false })
  useEffect(() => {
    const stop = new AbortController()
    void keepFollowing(api, { signal: stop.signal, onChange: setLive })
    return () => stop.abort()
  }, [api])
  return live
}

interface FollowOptions {
  readonly signal: AbortSignal
  readonly onChange: (live: LiveRuns) => void
}

async function keepFollowing(api: Api, { signal, onChange }: FollowOptions): Promise<void> {
  let runs: ReadonlyMap<string, RunSummary> | undefined
  let retryMs = firstRetryMs
  for (;;) {
    try {
      // Followed before it is listed: nothing falls between the two.
      const changes = api.follow<RunSummary>('runs/follow', signal)
      const first = changes.next()
      // Its end is noticed below.
      first.catch(() => undefined)
      const listed = (await api.get<{ readonly runs: readonly RunSummary[] }>('runs?limit=200', signal)).runs
      runs = mergeRuns(runs ?? new Map(), listed)
      onChange({ runs: newestFirst(runs), isLost: false })
      retryMs = firstRetryMs
      for (let item = await first; !item.done; item = await changes.next()) {
        runs = mergeRuns(runs, [item.value])
        onChange({ runs: newestFirst(runs), isLost: false })
      }
    } catch {
      // Said below, and tried again.
    }
    if (signal.aborted) return
    onChange({ runs: runs && newestFirst(runs), isLost: true })
    await pause(retryMs, signal)
    retryMs = Math.min(retryMs * 2, maxRetryMs)
  }
}

export function keyOfRun({ user, agent, threadId, runId }: RunSummary): string {
  return JSON.stringify([user, agent, threadId, runId])
}

/** Adds what is new or further than what is known. */
function mergeRuns(
  known: ReadonlyMap<string, RunSummary>,
  news: readonly RunSummary[],
): ReadonlyMap<string, RunSummary> {
  const merged = new Map(known)
  for (const run of news) {
    const before = merged.get(keyOfRun(run))
    if (!before || isFurther(run, before)) merged.set(keyOfRun(run), run)
  }
  if (merged.size <= maxRuns) return merged
  return new Map(
    newestFirst(merged)
      .slice(0, maxRuns)
      .map((run) => [keyOfRun(run), run]),
  )
}

function isFurther(run: RunSummary, before: RunSummary): boolean {
  if ((run.endedAt === undefined) !== (before.endedAt === undefined)) return run.endedAt !== undefined
  return run.events >= before.events
}

function newestFirst(runs: ReadonlyMap<string, RunSummary>): RunSummary[] {
  return [...runs.values()].sort((one, other) => other.startedAt - one.startedAt)
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      resolve()
    })
  })
}
