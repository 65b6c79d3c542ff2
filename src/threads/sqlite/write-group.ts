/** Does all of some work that writes or, when it throws, nothing of it. */
type Transact = <T>(work: () => T) => T

/** Puts the writes of one turn into one transaction: that costs more than most of them do, and all its pages are written. */
export interface WriteGroup {
  /** Does work at once when it is among the first of its turn, else at the end of the turn with all that has come by then. */
  readonly write: <T>(work: () => T) => Promise<T>
  /** Does at once what still waits. */
  flush(): void
}

interface Waiting {
  readonly work: () => unknown
  readonly resolve: (value: unknown) => void
  readonly reject: (error: unknown) => void
}

/** What one request needs one after the other is not held up when there is no other. */
const atOnce = 4

/** Work must only write, since it may be done twice: when one of a group throws, each is done alone. */
export function createWriteGroup(transact: Transact): WriteGroup {
  let waiting: Waiting[] = []
  let doneInTurn = 0

  const flush = (): void => {
    const group = waiting
    waiting = []
    if (group.length > 1) settleTogether(group, transact)
    else settleEach(group, transact)
  }
  const endTurn = (): void => {
    doneInTurn = 0
    flush()
  }
  const enter = (one: Waiting): void => {
    waiting.push(one)
    if (doneInTurn === atOnce) return
    if (doneInTurn === 0) setImmediate(endTurn)
    doneInTurn++
    flush()
  }

  return {
    write: <T>(work: () => T) =>
      new Promise<T>((resolve, reject) => {
        enter({ work, resolve: (value) => resolve(value as T), reject })
      }),
    flush,
  }
}

function settleTogether(group: readonly Waiting[], transact: Transact): void {
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
    if (isRefused) settleEach(group, transact)
    // The database cannot be written: each of them would only wait for the same answer.
    else for (const { reject } of group) reject(error)
  }
}

function settleEach(group: readonly Waiting[], transact: Transact): void {
  for (const { work, resolve, reject } of group) {
    try {
      resolve(transact(work))
    } catch (error) {
      reject(error)
    }
  }
}
