import { copyThreadKey, threadKeyText } from '../thread-key.js'
import type { Clock } from '../../core/clock.js'
import type {
  Lease,
  MessageChange,
  Thread,
  ThreadChange,
  ThreadKey,
  ThreadStore,
  ThreadSummary,
} from '../contract.js'
import type { MemoryLeases } from './leases.js'
import type { MemoryLog } from './log.js'
import { summarizeThread } from '../thread-list.js'
import { createThreadOrder } from './thread-order.js'
import { toPromise } from '../../core/to-promise.js'
import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'

/** What the threads of a store work with. */
export interface MemoryThreadsOptions {
  readonly clock: Clock
  readonly leases: Pick<MemoryLeases, 'assertCurrent' | 'drop'>
  readonly log: Pick<MemoryLog, 'add' | 'forget'>
}

/** Makes the threads of a store. */
export function createMemoryThreads({ clock, leases, log }: MemoryThreadsOptions): ThreadStore {
  const threads = new Map<string, Thread>()
  const running = new Map<string, ThreadKey>()
  const order = createThreadOrder()

  /** What the holder of a lease finds. Throws LEASE_LOST when it is none. */
  const found = (lease: Lease): Thread => {
    leases.assertCurrent(lease)
    return threads.get(threadKeyText(lease.key)) ?? emptyThread(copyThreadKey(lease.key), clock.now())
  }
  const put = (thread: Thread): void => {
    const text = threadKeyText(thread.key)
    threads.set(text, thread)
    if (thread.run?.status === 'running') running.set(text, thread.key)
    else running.delete(text)
  }
  const summaries = (keys: readonly string[]): ThreadSummary[] =>
    keys.flatMap((text) => {
      const thread = threads.get(text)
      return thread === undefined ? [] : [summarizeThread(thread)]
    })

  const commit = (lease: Lease, change: ThreadChange): number => {
    const old = found(lease)
    const thread = nextThread(old, change, clock.now())
    // The last step that may fail: from here on all is written.
    if (change.log !== undefined) log.add(thread.key, change.log)
    if (old.version > 0) order.remove(old)
    order.add(thread)
    put(thread)
    if (change.run !== undefined) log.forget(thread.key, change.run.runId)
    return thread.version
  }
  const remove = (lease: Lease): void => {
    const old = found(lease)
    if (old.version > 0) order.remove(old)
    threads.delete(threadKeyText(old.key))
    running.delete(threadKeyText(old.key))
    log.forget(old.key)
  }

  return {
    load: (key) => toPromise(() => threads.get(threadKeyText(key))),
    begin: (lease, run) => toPromise(() => put(deepFreeze({ ...found(lease), run }))),
    commit: (lease, change, { release = false } = {}) =>
      toPromise(() => {
        const version = commit(lease, change)
        if (release) leases.drop(lease)
        return version
      }),
    list: (owner, page) =>
      toPromise(() => {
        const { keys, ...rest } = order.page(owner, page)
        return { threads: summaries(keys), ...rest }
      }),
    remove: (lease) => toPromise(() => remove(lease)),
    idle: (before, limit) => toPromise(() => summaries(order.idle(before, limit))),
    unfinished: () => toPromise(() => [...running.values()]),
  }
}

/** A thread that nothing was committed to. */
export function emptyThread(key: ThreadKey, now: number): Thread {
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

/**
 * The thread after a change. The one before stays as it was. Throws VERSION_CONFLICT when the change was made from
 * another version, or keeps more messages than there are.
 */
export function nextThread(thread: Thread, change: ThreadChange, now: number): Thread {
  assertFits(thread, change)
  const { version, state, shown, interrupts, pendingToolCalls, checkpoint } = change
  const { checkpoint: _checkpoint, shown: _shown, ...stays } = thread
  return deepFreeze({
    ...stays,
    version: version + 1,
    // A list must not show a thread again further back because the clock was set back.
    updatedAt: Math.max(now, thread.updatedAt),
    title: change.title ?? thread.title,
    messages: nextMessages(thread.messages, change),
    state,
    interrupts,
    pendingToolCalls,
    ...(checkpoint === undefined ? {} : { checkpoint }),
    ...(shown === undefined ? {} : { shown }),
    ...(change.forkedFrom === undefined ? {} : { forkedFrom: change.forkedFrom }),
    ...(change.run === undefined ? {} : { run: change.run }),
  })
}

function assertFits(thread: Thread, { version, keep }: ThreadChange): void {
  const { length } = thread.messages
  if (version === thread.version && Number.isInteger(keep) && keep >= 0 && keep <= length) return
  throw new MillraceError('VERSION_CONFLICT', 'The thread is not what the change was made from.', {
    details: { key: thread.key, version: thread.version, messages: length, from: version, keep },
  })
}

function nextMessages(messages: readonly Message[], { keep, append }: MessageChange): readonly Message[] {
  if (keep === messages.length && append.length === 0) return messages
  // Spread, since slicing a frozen array is many times slower in V8.
  const next = [...messages]
  next.length = keep
  for (const message of append) next.push(deepFreeze(message))
  // Frozen here, so that nobody looks again at each of the messages that stay.
  return Object.freeze(next)
}

/**
 * Makes a JSON value unchangeable, all through, and gives it back. What is frozen already is taken to be so all
 * through, so the work is in proportion to what is new. Objects that JSON does not know stay as they are.
 */
export function deepFreeze<T>(value: T): T {
  // Not by recursion: the state of a thread may be nested deeper than the stack is.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const node = open.pop()
    if (!isContainer(node) || Object.isFrozen(node)) continue
    Object.freeze(node)
    for (const member of Object.values(node)) if (typeof member === 'object') open.push(member)
  }
  return value
}

function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
