import { sseHeaders, sseHeartbeat } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import { takeStream, type UserRequest, type UserRoute } from '../routes/route.js'
import { serverClosing } from '../run/lease.js'
import { viewerOf } from './list-runs.js'
import type { RunSummary } from './run-board.js'

/** `GET /runs/follow`: a summary whenever a run that the user may see begins, ends, or, once a second, moves on. */
export const followRunsRoute: UserRoute = {
  method: 'GET',
  path: '/runs/follow',
  handle: (server, request) =>
    Promise.resolve(
      new Response(streamSummaries(server, request), { headers: { ...request.headers, ...sseHeaders } }),
    ),
}

function streamSummaries(server: ServerContext, request: UserRequest): ReadableStream<Uint8Array> {
  if (server.isClosing()) throw serverClosing()
  const share = takeStream(server, request.user)
  const { registry, clock, limits, board } = server
  const encoder = new TextEncoder()
  /** The latest of each run. A page that reads slowly misses steps between, and takes no more memory for it. */
  const waiting = new Map<string, RunSummary>()
  const ends: (() => void)[] = [() => share.release()]
  let isOver = false
  const end = (): void => {
    if (isOver) return
    isOver = true
    for (const one of ends) one()
  }
  const start = (controller: ReadableStreamDefaultController<Uint8Array>): void => {
    const write = (text: string): void => controller.enqueue(encoder.encode(text))
    const send = (): void => {
      for (const [name, summary] of waiting) {
        if (isOver || (controller.desiredSize ?? 0) <= 0) return
        waiting.delete(name)
        write(`data: ${JSON.stringify(summary)}\n\n`)
      }
    }
    const onRun = (summary: RunSummary): void => {
      waiting.set(JSON.stringify([summary.user, summary.agent, summary.threadId, summary.runId]), summary)
      send()
    }
    resume = send
    let cancelTimer: () => void = () => undefined
    const beat = (): void => {
      if ((controller.desiredSize ?? 0) > 0) write(sseHeartbeat)
      cancelTimer = clock.schedule(limits.heartbeatMs, beat)
    }
    const onClose = (): void => {
      if (isOver) return
      end()
      controller.close()
    }
    ends.push(() => cancelTimer(), registry.watch({ onRun: () => undefined, onClose }))
    if (board) ends.push(board.follow({ viewer: viewerOf(request), onRun }))
    beat()
  }
  let resume: () => void = () => undefined
  return new ReadableStream({ start, pull: () => resume(), cancel: end }, { highWaterMark: 16 })
}
