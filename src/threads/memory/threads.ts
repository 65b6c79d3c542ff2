import type { Message } from '@ag-ui/core'
import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { toPromise } from '../../core/to-promise.js'
import type {
  KnownThread,
  Lease,
  MessageChange,
  Page,
  Thread,
  ThreadChange,
  ThreadHead,
  ThreadKey,
  ThreadLabels,
  ThreadStore,
  ThreadSummary,
} from '../contract.js'
import { copyThreadKey, forkSource, threadKeyText } from '../thread-key.js'
import { summarizeThread, titleMatches } from '../thread-list.js'
import type { MemoryLeases } from './leases.js'
import type { MemoryLog } from './log.js'
import { createThreadOrder } from './thread-order.js'
import { createWaiters } from './waiters.js'

export interface MemoryThreadsOptions {
  readonly clock: Clock
  readonly leases: Pick<MemoryLeases, 'assertCurrent' | 'drop'>
  readonly log: Pick<MemoryLog, 'add' | 'remove'>
}

export interface MemoryThreads extends ThreadStore {
  /** Wakes all waiters. */
  readonly close: () => void
}

export function createMemoryThreads({ clock, leases, log }: MemoryThreadsOptions): MemoryThreads {
  const threads = new Map<string, Thread>()
  const running = new Map<string, ThreadKey>()
  /** The threads whose title a person has given. */
  const named = new Set<string>()
  /** The highest version of all threads that were removed: new ones begin above it. */
  let removedVersion = 0
  const order = createThreadOrder()
  const waiters = createWaiters()

  /** The thread of a lease, empty if there is none. Throws LEASE_LOST. */
  const threadFor = (lease: Lease, now = clock.now()): Thread => {
    leases.assertCurrent(lease)
    return threads.get(threadKeyText(lease.key)) ?? emptyThread(copyThreadKey(lease.key), now)
  }
  const put = (thread: Thread): void => {
    const text = threadKeyText(thread.key)
    threads.set(text, thread)
    if (thread.run?.status === 'running') running.set(text, thread.key)
    else running.delete(text)
    waiters.wake(text)
  }
  const summaries = (keys: readonly string[]): ThreadSummary[] =>
    keys.flatMap((text) => threads.get(text) ?? []).map(summarizeThread)

  const commit = (lease: Lease, change: ThreadChange): number => {
    const now = clock.now()
    const old = threadFor(lease, now)
    const source = forkSource(old.key, change)
    const { messages } = (source && threads.get(threadKeyText(source))) ?? old
    const title = named.has(threadKeyText(old.key)) ? { title: old.title } : {}
    const version = (old.version || removedVersion) + 1
    const thread = applyChange({ ...old, messages }, { ...change, ...title }, { version, now })
    // The last step that can fail: from here on everything is written.
    if (change.log !== undefined) log.add(thread.key, change.log)
    if (old.version > 0) order.remove(old)
    order.add(thread)
    put(thread)
    if (change.run !== undefined) log.remove(thread.key, change.run.runId)
    return thread.version
  }
  const remove = (lease: Lease): void => {
    const old = threadFor(lease)
    if (old.version > 0) order.remove(old)
    removedVersion = Math.max(removedVersion, old.version)
    threads.delete(threadKeyText(old.key))
    running.delete(threadKeyText(old.key))
    named.delete(threadKeyText(old.key))
    log.remove(old.key)
    waiters.wake(threadKeyText(old.key))
  }
  const label = (key: ThreadKey, labels: ThreadLabels): boolean => {
    const text = threadKeyText(key)
    const thread = threads.get(text)
    if (thread === undefined) return false
    if (labels.title !== undefined) named.add(text)
    put(applyLabels(thread, labels))
    return true
  }

  return {
    load: (key) => toPromise(() => threads.get(threadKeyText(key))),
    loadHead: (key) => toPromise(() => toHead(threads.get(threadKeyText(key)))),
    begin: (lease, run) => toPromise(() => put(deepFreeze({ ...threadFor(lease), run }))),
    commit: (lease, change, { release = false } = {}) =>
      toPromise(() => {
        const version = commit(lease, change)
        if (release) leases.drop(lease)
        return version
      }),
    label: (key, labels) => toPromise(() => label(key, labels)),
    list: (owner, page) =>
      toPromise(() => {
        const { keys, ...rest } = order.page(owner, page, (text) => isListed(threads.get(text), page))
        return { threads: summaries(keys), ...rest }
      }),
    remove: (lease) => toPromise(() => remove(lease)),
    idle: (before, limit) => toPromise(() => summaries(order.idle(before, limit))),
    unfinished: () => toPromise(() => [...running.values()]),
    async changed(key, known, signal) {
      const text = threadKeyText(key)
      if (isAsKnown(threads.get(text), known)) await waiters.wait(text, signal)
    },
    close: waiters.wakeAll,
  }
}

function toHead(thread: Thread | undefined): ThreadHead | undefined {
  if (thread === undefined) return undefined
  const { messages, shown: _, ...head } = thread
  return { ...head, messageCount: messages.length }
}

function isListed(thread: Thread | undefined, { withoutArchived, search }: Page): boolean {
  const { archived, title = '' } = thread ?? {}
  return !(withoutArchived && archived) && titleMatches(title, search)
}

function isAsKnown(thread: Thread | undefined, { version, isRunning }: KnownThread): boolean {
  return (thread?.version ?? 0) === version && (thread?.run?.status === 'running') === isRunning
}

function emptyThread(key: ThreadKey, now: number): Thread {
  return deepFreeze({
    key,
    version: 0,
    createdAt: now,
    updatedAt: now,
    title: '',
    messages: [],
    state: {},
    interrupts: [],
    pendingToolCalls: [],
  })
}

/** The thread after a change. Throws VERSION_CONFLICT if the change was made from another version. */
function applyChange(
  thread: Thread,
  change: ThreadChange,
  { version, now }: { readonly version: number; readonly now: number },
): Thread {
  assertFits(thread, change)
  const { state, interrupts, pendingToolCalls, checkpoint, keepsShown = false } = change
  const shown: unknown = keepsShown ? (thread.shown ?? thread.state) : change.shown
  const { checkpoint: _checkpoint, shown: _shown, ...unchanged } = thread
  return deepFreeze({
    ...unchanged,
    version,
    // If the clock was set back, a list must not show the thread again further back.
    updatedAt: Math.max(now, thread.updatedAt),
    title: change.title ?? thread.title,
    messages: changeMessages(thread.messages, change),
    state,
    interrupts,
    pendingToolCalls,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(shown === undefined ? {} : { shown }),
    ...(change.forkedFrom === undefined ? {} : { forkedFrom: change.forkedFrom }),
    ...(change.run === undefined ? {} : { run: change.run }),
  })
}

function applyLabels(thread: Thread, { title = thread.title, archived }: ThreadLabels): Thread {
  const { archived: wasArchived = false, ...rest } = thread
  return deepFreeze({ ...rest, title, ...((archived ?? wasArchived) ? { archived: true } : {}) })
}

function assertFits(thread: Thread, { version, keep }: ThreadChange): void {
  const { length } = thread.messages
  if (version === thread.version && Number.isInteger(keep) && keep >= 0 && keep <= length) return
  throw new MillraceError('VERSION_CONFLICT', 'The thread is not what the change was made from.', {
    details: { key: thread.key, version: thread.version, messages: length, from: version, keep },
  })
}

function changeMessages(messages: readonly Message[], { keep, append }: MessageChange): readonly Message[] {
  if (keep === messages.length && append.length === 0) return messages
  // Spread, since slicing a frozen array is many times slower in V8.
  const changed = [...messages]
  changed.length = keep
  for (const message of append) changed.push(deepFreeze(message))
  // Frozen here, so that `deepFreeze` does not visit every message that stays.
  return Object.freeze(changed)
}

/**
 * Freezes a JSON value deeply and returns it. Skips what is frozen already, so the work is in proportion to what is new, and
 * objects that are not JSON.
 */
function deepFreeze<T>(value: T): T {
  // Without recursion: a state may be nested deeper than the stack.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const node = open.pop()
    if (!isJsonContainer(node) || Object.isFrozen(node)) continue
    Object.freeze(node)
    for (const member of Object.values(node)) if (typeof member === 'object') open.push(member)
  }
  return value
}

function isJsonContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
