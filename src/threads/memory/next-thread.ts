import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { MessageChange, Thread, ThreadChange, ThreadKey } from '../thread.js'
import { deepFreeze } from './freeze.js'

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
