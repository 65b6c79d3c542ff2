import type { Message, TokenUsage } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { threadKeyText } from '../../threads/thread-key.js'
import type { RunRecord, ThreadKey } from '../../threads/contract.js'
import type { Limits } from '../contract.js'
import type { RunFeed } from './run-feed.js'

/** A run that this process executes. Connections come and go; the run belongs to the registry. */
export interface LiveRun {
  readonly key: ThreadKey
  readonly runId: string
  readonly feed: RunFeed
  /** The number of its first event. */
  readonly firstSeq: number
  readonly startedAt: number
  /** Whether nothing was ever committed to its thread, which is to be kept. */
  readonly isFirst: boolean
  /** The thread before the first event of this run, for subscribers that come late. */
  readonly start: { readonly messages: readonly Message[]; readonly state: unknown }
  /** Whether it is stopped when nobody follows it for some time: its client cannot reconnect. */
  readonly needsSubscriber: boolean
  /** True while it needs a subscriber and has none in this process. */
  readonly isAbandoned: boolean
  /** Stops it: failed with the reason, or cancelled without one. */
  stop(reason?: Error): void
  /** Stops it after its running tools have finished, but no later than `timeoutMs` from now. */
  stopAfterTools(timeoutMs: number): void
  /** Resolves when it is over, committed, and its thread is free. Never rejects. */
  readonly done: Promise<void>
  /** How it has ended. Set when it is done. */
  readonly end: RunEnd | undefined
  /** The title of its thread. */
  readonly title: string
}

/** How a run has ended, as its user sees it. */
export interface RunEnd extends Pick<RunRecord, 'error'> {
  readonly status: Exclude<RunRecord['status'], 'running'> | 'waiting-for-tools'
  /** By model. */
  readonly usage: readonly TokenUsage[]
}

/** The runs of this process. Interrupted runs are over and not among them. */
export interface RunRegistry {
  readonly size: number
  get(key: ThreadKey): LiveRun | undefined
  all(): readonly LiveRun[]
  /**
   * Reserves a slot for a run, live or waiting, and returns its release. Throws TOO_MANY_RUNS when there is none. The first that
   * waits to replace the live run of its thread counts as one with it.
   */
  reserve(key: ThreadKey, options?: { readonly isReplacing?: boolean }): () => void
  add(run: LiveRun): void
  remove(run: LiveRun): void
  readonly starting: StartingRuns
  /** Tells the watcher of every run that is added, until the returned function is called. */
  watch(watcher: RunWatcher): () => void
  /** Tells all watchers that no more runs come. */
  close(): void
}

interface RunWatcher {
  readonly onRun: (run: LiveRun) => void
  readonly onClose: () => void
}

/** The requests that may still become runs: they wait for their thread, or for a hook. */
export interface StartingRuns {
  readonly size: number
  all(): readonly Promise<unknown>[]
  /** Keeps a request until `start` settles. */
  add(start: Promise<unknown>, run: StartingRun): void
  stopAll(reason: Error): void
  /** Whether there is one on a thread, with another run id than this. */
  hasOther(run: Pick<LiveRun, 'key'> & { readonly runId?: string }): boolean
  /**
   * Cancels those on a thread, or only the one with this run id. Resolves when they have started or failed, with the id
   * of the first. Undefined when there is none.
   */
  cancel(key: ThreadKey, runId?: string): Promise<string | undefined>
}

interface StartingRun {
  readonly key: ThreadKey
  readonly runId: string
  /** Stops the request, and the run it becomes. */
  readonly controller: AbortController
}

export function createRunRegistry({
  runs: maxRuns,
  runsPerUser,
}: Pick<Limits, 'runs' | 'runsPerUser'>): RunRegistry {
  const live = new Map<string, LiveRun>()
  const slotsByUser = new Map<string, number>()
  const watchers = new Set<RunWatcher>()
  let slots = 0
  const starting = createStartingRuns()

  return {
    get size() {
      return live.size
    },
    get: (key) => live.get(threadKeyText(key)),
    all: () => [...live.values()],
    reserve(key, { isReplacing = false } = {}) {
      const owner = JSON.stringify([key.app, key.user])
      const own = slotsByUser.get(owner) ?? 0
      const counted = isReplacing && live.has(threadKeyText(key)) && !starting.hasOther({ key }) ? 1 : 0
      if (slots - counted >= maxRuns)
        throw tooManyRuns(`${slots} runs are live or wait; no more than ${maxRuns} may.`)
      if (own - counted >= runsPerUser)
        throw tooManyRuns(`${own} runs of this user are live or wait; no more than ${runsPerUser} may.`)
      slotsByUser.set(owner, own + 1)
      slots++
      let isReleased = false
      return () => {
        if (isReleased) return
        isReleased = true
        const left = (slotsByUser.get(owner) ?? 1) - 1
        if (left > 0) slotsByUser.set(owner, left)
        else slotsByUser.delete(owner)
        slots--
      }
    },
    add(run) {
      live.set(threadKeyText(run.key), run)
      for (const { onRun } of watchers) onRun(run)
    },
    remove(run) {
      if (live.get(threadKeyText(run.key)) === run) live.delete(threadKeyText(run.key))
    },
    starting,
    watch(watcher) {
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    close() {
      for (const { onClose } of [...watchers]) onClose()
    },
  }
}

function tooManyRuns(message: string): MillraceError {
  return new MillraceError('TOO_MANY_RUNS', `${message} Try again in a moment.`)
}

function createStartingRuns(): StartingRuns {
  const starting = new Map<Promise<unknown>, StartingRun>()
  return {
    get size() {
      return starting.size
    },
    all: () => [...starting.keys()],
    add(start, run) {
      starting.set(start, run)
      const remove = (): void => void starting.delete(start)
      start.then(remove, remove)
    },
    stopAll(reason) {
      for (const { controller } of starting.values()) controller.abort(reason)
    },
    hasOther({ key, runId }) {
      const thread = threadKeyText(key)
      for (const other of starting.values())
        if (other.runId !== runId && threadKeyText(other.key) === thread) return true
      return false
    },
    async cancel(key, runId) {
      const thread = threadKeyText(key)
      const found = [...starting].filter(
        ([, run]) => threadKeyText(run.key) === thread && (runId === undefined || runId === run.runId),
      )
      for (const [, { controller }] of found) controller.abort()
      await Promise.allSettled(found.map(([start]) => start))
      return found[0]?.[1].runId
    },
  }
}
