import type { Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { longestWaitMs, retryTimes } from './busy.js'
import { isBusy, toStoreError } from './driver-errors.js'

/** Does work in a transaction. If it throws, nothing is written. */
type Transact = <T>(work: () => T) => T

/**
 * Does writes in their order. Joins those of one tick into one transaction, which costs more than most of its writes. While
 * another process holds the file, all wait, and are tried again together.
 */
export interface WriteQueue {
  /**
   * Does the first writes of a tick at once, and all later ones together at its end. Work may run twice. Rejects with
   * STORE_ERROR, with nothing written, if another process holds the file for too long.
   */
  readonly write: <T>(work: () => T) => Promise<T>
  /** Resolves when all writes so far are done or have failed. */
  settled(): Promise<void>
}

interface WaitingWrite {
  readonly work: () => unknown
  readonly deadline: number
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** A single request makes this many writes one after the other, which need not wait. */
const immediateWrites = 4
/** No more than this wait: a process that cannot write must not fill its memory. */
const maxWaiting = 10_000

export function createWriteQueue(transact: Transact, clock: Clock): WriteQueue {
  let waiting: WaitingWrite[] = []
  let doneInTick = 0
  /** Set while another process holds the file. */
  let retries: Iterator<number, never> | undefined

  const flush = (): void => {
    const group = waiting
    waiting = []
    const blocked = group.length > 1 ? settleTogether(group, transact) : settleEach(group, transact)
    if (blocked) retryLater(blocked)
    else retries = undefined
  }
  const retryLater = ({ left, cause }: BlockedWrites): void => {
    const now = clock.now()
    for (const one of left) if (one.deadline <= now) one.reject(toStoreError(cause))
    waiting = left.filter(({ deadline }) => deadline > now)
    retries = waiting.length === 0 ? undefined : (retries ?? retryTimes())
    if (retries) clock.schedule(retries.next().value, flush)
  }
  const endTick = (): void => {
    doneInTick = 0
    if (!retries) flush()
  }
  const enter = (one: WaitingWrite): void => {
    if (waiting.length >= maxWaiting) return one.reject(tooManyWaiting())
    waiting.push(one)
    if (retries || doneInTick === immediateWrites) return
    if (doneInTick === 0) setImmediate(endTick)
    doneInTick++
    flush()
  }
  const write = <T>(work: () => T): Promise<T> =>
    new Promise<T>((resolve, reject) => {
      const deadline = clock.now() + longestWaitMs
      enter({ work, deadline, resolve: (value) => resolve(value as T), reject })
    })

  return {
    write,
    async settled() {
      // The last in the queue: when it is over, so are all before it. It may fail with them.
      if (waiting.length > 0) await write(() => undefined).catch(() => undefined)
    },
  }
}

/** Writes that another process keeps from being done. */
interface BlockedWrites {
  readonly left: readonly WaitingWrite[]
  readonly cause: unknown
}

/** Does all writes in one transaction or, if one of them throws, each alone. */
function settleTogether(group: readonly WaitingWrite[], transact: Transact): BlockedWrites | undefined {
  let isRefused = false as boolean
  const doAll = (): unknown[] => {
    isRefused = true
    const results = group.map(({ work }) => work())
    isRefused = false
    return results
  }
  try {
    const results = transact(doAll)
    for (const [n, { resolve }] of group.entries()) resolve(results[n])
  } catch (error) {
    if (isBusy(error)) return { left: group, cause: error }
    if (isRefused) return settleEach(group, transact)
    // The database cannot be written: each write alone would fail the same way, later.
    for (const { reject } of group) reject(toStoreError(error))
  }
  return undefined
}

function settleEach(group: readonly WaitingWrite[], transact: Transact): BlockedWrites | undefined {
  for (const [n, { work, resolve, reject }] of group.entries()) {
    try {
      resolve(transact(work))
    } catch (error) {
      if (isBusy(error)) return { left: group.slice(n), cause: error }
      reject(toStoreError(error))
    }
  }
  return undefined
}

function tooManyWaiting(): MillraceError {
  const message = `More than ${maxWaiting} writes wait for another process that holds the thread store. Try again.`
  return new MillraceError('STORE_ERROR', message, { expose: true })
}
