import type { LogEntry, LogPosition } from '../../threads/store.js'
import type { ThreadKey } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import { settledThread } from '../recovery/recover-thread.js'
import { serverClosing } from '../run/server-closing.js'
import type { Departure } from '../stream/sink.js'

export interface LogFollower {
  readonly server: ServerContext
  readonly key: ThreadKey
  /** Aborts when nobody follows any more. */
  readonly gone: Departure
}

const readAtOnce = 256

/** The events of a run as they stand in the log, until its end. Throws SERVER_CLOSING when the server shuts down first. */
export async function* followLog(
  follower: LogFollower,
  position: LogPosition,
): AsyncGenerator<readonly LogEntry[]> {
  try {
    for await (const entries of logged(follower, position)) yield entries
  } catch (error) {
    // The store closes with the server, maybe while it is read.
    throw follower.server.isClosing() ? serverClosing() : error
  }
}

async function* logged(
  { server, key, gone }: LogFollower,
  position: LogPosition,
): AsyncGenerator<readonly LogEntry[]> {
  const { store } = server
  let { after } = position
  for (;;) {
    const at = { ...position, after }
    const entries = await store.log.read(key, at, readAtOnce)
    const last = entries.at(-1)
    if (last) {
      yield entries
      after = last.seq
      if (isEnd(last)) return
      continue
    }
    const thread = await settledThread(server, key)
    const isOver = thread?.run?.runId !== position.runId || thread.run.status !== 'running'
    // What was added between the two looks is not missed.
    if (isOver && (await store.log.read(key, at, 1)).length === 0) return
    // The run goes on elsewhere, and can be followed there.
    if (!isOver && server.isClosing()) throw serverClosing()
    if (!isOver) await changedOrLost({ server, key, gone }, at)
    if (gone.aborted) return
  }
}

/** A process that has died writes nothing more: after the time of a lease it is worth another look. */
async function changedOrLost({ server, key, gone }: LogFollower, at: LogPosition): Promise<void> {
  const look = new AbortController()
  const leave = (): void => look.abort()
  gone.addEventListener('abort', leave)
  if (gone.aborted) leave()
  const cancel = server.clock.schedule(server.limits.leaseMs, () => look.abort())
  try {
    await server.store.log.changed(key, at, look.signal)
  } finally {
    cancel()
    gone.removeEventListener('abort', leave)
  }
}

function isEnd({ json }: LogEntry): boolean {
  return json.startsWith('{"type":"RUN_FINISHED"') || json.startsWith('{"type":"RUN_ERROR"')
}
