import { delay } from '../../core/abort.js'
import type { Clock } from '../../core/clock.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { LiveRun } from './registry.js'
import { isFollowedElsewhere } from './subscribers-elsewhere.js'

type Facts = Pick<ServerContext, 'store' | 'registry' | 'clock' | 'limits' | 'log' | 'isClosing'>

/**
 * The time since the last subscriber of a run has left. When it is over, the run is cancelled: its client cannot
 * reconnect, so to hang up was the only Stop it had. A page that reloads is back before, and takes the time back.
 */
export class Abandonment {
  readonly #server: Facts
  readonly #run: Pick<LiveRun, 'key' | 'runId' | 'stop'>
  #isOver = false
  #cancelTimer: () => void

  constructor(server: Facts, run: Pick<LiveRun, 'key' | 'runId' | 'stop'>) {
    this.#server = server
    this.#run = run
    // A request that waits for the thread already has it now.
    const isNextWaiting = server.registry.starting.hasOther(run)
    this.#cancelTimer = this.#schedule(isNextWaiting ? 0 : server.limits.abandonedMs)
  }

  /** The run is followed again, or over. */
  end(): void {
    this.#isOver = true
    this.#cancelTimer()
  }

  #schedule(ms: number): () => void {
    return this.#server.clock.schedule(ms, () => void this.#expire())
  }

  async #expire(): Promise<void> {
    const { store, limits, log, isClosing } = this.#server
    const { key, runId } = this.#run
    const isFollowed = await isFollowedElsewhere(store, key).catch((error: unknown) => {
      log.warn({ ...key, runId, err: error }, 'it is not known whether a run is followed elsewhere')
      return true
    })
    // A server that closes lets runs finish, and stops the rest itself.
    if (this.#isOver || isClosing()) return
    if (isFollowed) {
      this.#cancelTimer = this.#schedule(limits.abandonedMs)
      return
    }
    log.info({ ...key, runId }, 'a run that nobody follows is cancelled')
    this.#run.stop()
  }
}

/** Lets an abandoned run yield to a new one on its thread: stops it, and resolves when the thread is free. */
export async function stopAbandoned(
  { registry, store, whenBusy, clock }: Pick<ServerContext, 'registry' | 'store' | 'whenBusy' | 'clock'>,
  key: ThreadKey,
): Promise<void> {
  const live = registry.get(key)
  if (!live?.needsSubscriber) return
  // A request that waits for the thread anyway has it when the run is abandoned later.
  if (whenBusy === 'reject') await waitForHangUp(live, clock)
  if (!live.isAbandoned || (await isFollowedElsewhere(store, key))) return
  live.stop()
  await live.done
}

const pollMs = 10
const polls = 10

/** A client that hangs up and writes at once does so on two connections, and the new one may be read first. */
async function waitForHangUp(live: LiveRun, clock: Clock): Promise<void> {
  for (let n = 0; n < polls && !live.isAbandoned; n++) await delay(pollMs, { clock })
}
