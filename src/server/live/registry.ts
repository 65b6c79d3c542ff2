import { threadKeyText } from '../../threads/thread-key.js'
import { MillraceError } from '../../core/errors.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { Limits } from '../contract.js'
import type { LiveRun } from './live-run.js'

/** The runs at work in this process. Those that wait for a person are over, and count for nothing. */
export interface Registry {
  readonly size: number
  get(key: ThreadKey): LiveRun | undefined
  all(): readonly LiveRun[]
  /** Takes a place for a run. Throws TOO_MANY_RUNS when there is none. The answer gives it back. */
  reserve(key: ThreadKey): () => void
  add(run: LiveRun): void
  remove(run: LiveRun): void
}

export function createRegistry({
  runs: maxRuns,
  runsPerUser,
}: Pick<Limits, 'runs' | 'runsPerUser'>): Registry {
  const live = new Map<string, LiveRun>()
  const places = new Map<string, number>()
  let taken = 0

  return {
    get size() {
      return live.size
    },
    get: (key) => live.get(threadKeyText(key)),
    all: () => [...live.values()],
    reserve({ app, user }) {
      const who = JSON.stringify([app, user])
      const own = places.get(who) ?? 0
      if (taken >= maxRuns) throw tooMany(`${taken} runs are at work; no more than ${maxRuns} may be.`)
      if (own >= runsPerUser)
        throw tooMany(`${own} runs of this user are at work; no more than ${runsPerUser} may be.`)
      places.set(who, own + 1)
      taken++
      return once(() => {
        const left = (places.get(who) ?? 1) - 1
        if (left > 0) places.set(who, left)
        else places.delete(who)
        taken--
      })
    },
    add: (run) => void live.set(threadKeyText(run.key), run),
    remove(run) {
      if (live.get(threadKeyText(run.key)) === run) live.delete(threadKeyText(run.key))
    },
  }
}

function tooMany(message: string): MillraceError {
  return new MillraceError('TOO_MANY_RUNS', `${message} Try again in a moment.`)
}

function once(action: () => void): () => void {
  let isDone = false
  return () => {
    if (!isDone) action()
    isDone = true
  }
}
