import { sseHeaders, sseHeartbeat } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { LiveRun } from '../live/registry.js'
import { takeStream, type UserRequest, type UserRoute } from '../routes/route.js'
import { serverClosing } from '../run/lease.js'
import { parseEntry } from '../stream/framing.js'

/** `GET /cpk-debug-events`: the events of a user's runs as they come, with all agents, for CopilotKit's inspector. */
export const debugEventsRoute: UserRoute = {
  method: 'GET',
  path: '/cpk-debug-events',
  handle: (server, request) =>
    Promise.resolve(
      new Response(streamDebugEvents(server, request), { headers: { ...request.headers, ...sseHeaders } }),
    ),
}

function streamDebugEvents(server: ServerContext, { user }: UserRequest): ReadableStream<Uint8Array> {
  if (server.isClosing()) throw serverClosing()
  const share = takeStream(server, user)
  const { registry, clock, limits, log } = server
  const gone = new AbortController()
  const encoder = new TextEncoder()
  const waiting = new Set<() => void>()
  const following = new Set<Promise<void>>()
  let unwatch: () => void = () => undefined
  let cancelTimer: () => void = () => undefined
  let cancelStall: (() => void) | undefined
  const wake = (): void => {
    cancelStall?.()
    cancelStall = undefined
    for (const resume of waiting) resume()
    waiting.clear()
  }
  const end = (): void => {
    share.release()
    unwatch()
    cancelTimer()
    gone.abort()
    wake()
  }
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const write = (text: string): void => {
      if (!gone.signal.aborted) controller.enqueue(encoder.encode(text))
    }
    const isBehind = (): boolean => (controller.desiredSize ?? 1) <= 0
    /** One that takes nothing for `stallMs` is disconnected, as from any stream. */
    const watchStall = (): void => {
      cancelStall ??= clock.schedule(limits.stallMs, () => {
        end()
        controller.error(new Error('The inspector reads nothing.'))
      })
    }
    const beat = (): void => {
      if (isBehind()) watchStall()
      else write(sseHeartbeat)
      cancelTimer = clock.schedule(limits.heartbeatMs, beat)
    }
    const close = (): void => {
      if (gone.signal.aborted) return
      end()
      controller.close()
    }
    /** All runs are over, and their last events are on their way to an inspector that reads. */
    const onClose = (): void => void Promise.allSettled(waiting.size > 0 ? [] : [...following]).then(close)
    /** A slow inspector holds no run back: what it has not read stays in the feed or its log. */
    const follow = async (run: LiveRun, after: number): Promise<void> => {
      for await (const { entries } of run.feed.lookOn(after, gone.signal)) {
        for (const entry of entries)
          write(`data: ${JSON.stringify(toDebugEvent(run, entry, clock.now()))}\n\n`)
        if (!isBehind()) continue
        watchStall()
        await new Promise<void>((resume) => waiting.add(resume))
      }
    }
    const onRun = (run: LiveRun, after = run.firstSeq - 1): void => {
      if (run.key.app !== user.app || run.key.user !== user.user) return
      const done = follow(run, after)
        .catch((error: unknown) => log.warn({ err: error }, 'debug events could not be read'))
        .finally(() => following.delete(done))
      following.add(done)
    }
    unwatch = registry.watch({ onRun: (run) => onRun(run), onClose })
    for (const run of registry.all()) onRun(run, run.feed.nextSeq - 1)
    beat()
  }
  return new ReadableStream({ start, pull: wake, cancel: end })
}

function toDebugEvent({ key, runId }: LiveRun, entry: LogEntry, timestamp: number): object {
  return { timestamp, agentId: key.agent, threadId: key.thread, runId, event: parseEntry(entry) }
}
