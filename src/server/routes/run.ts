import { toWireError } from '../../core/errors.js'
import { parseRunInput } from '../../protocol/index.js'
import { checkRunInput } from '../check-input.js'
import type { LiveRun } from '../live/live-run.js'
import { openTurn, type Turn } from '../run/open-turn.js'
import { serverClosing } from '../run/server-closing.js'
import type { Batch } from '../stream/batch.js'
import { replyWithStream } from '../stream/reply.js'
import { readBody, type Route, type RouteContext } from './route.js'

/** `POST /run`: runs the agent on a thread, and follows it. */
export const runRoute: Route = {
  method: 'POST',
  path: '/run',
  async handle(server, request) {
    const { input, peer, warnings } = parseRunInput(await readBody(server, request))
    checkRunInput(input, server.limits)
    if (server.isClosing()) throw serverClosing()
    const { owner, agent } = request
    const key = { ...owner, thread: input.threadId }
    if (warnings.length > 0)
      server.log.warn({ ...key, runId: input.runId, warnings }, 'a request was not quite right')
    const began = server.clock.now()
    const opening = openTurn(server, { agent, key, input, request: request.request })
    server.openings.add(opening)
    const opened = (): void => void server.openings.delete(opening)
    // It is waited for further down too, but that may be too late for one that is refused at once.
    opening.then(opened, opened)
    // Who has to wait for a thread is told so by a stream that is open; all else is refused before there is one.
    const isWaiting = server.whenBusy !== 'reject' && server.registry.get(key) !== undefined
    const turn = isWaiting ? undefined : await opening
    let live: LiveRun | undefined = turn?.type === 'live' ? turn.run : undefined
    const source = async function* (gone: AbortSignal): AsyncGenerator<Batch> {
      const opened = turn ?? (await opening.catch((error: unknown) => refused(server, error, input.runId)))
      if (opened.type === 'live') live = opened.run
      server.metrics.firstEvent({ agent: agent.name }, (server.clock.now() - began) / 1000)
      if (opened.type === 'over') {
        yield { events: opened.events }
        return
      }
      const { runId, feed, firstSeq } = opened.run
      for await (const entries of feed.follow(firstSeq - 1, gone)) yield { runId, entries }
    }
    return replyWithStream(server, request, {
      peer,
      source,
      onEnd: (end) => {
        if (end === 'client' && server.onDisconnect === 'cancel') live?.stop()
      },
    })
  },
}

function refused(server: RouteContext, error: unknown, runId: string): Turn {
  server.log.warn({ runId, err: error }, 'a run could not be started')
  return { type: 'over', runId, events: [{ type: 'RUN_ERROR', ...toWireError(error, 'INTERNAL_ERROR') }] }
}

/** The same at the root of the server, which is where most clients look. */
export const rootRoute: Route = { ...runRoute, path: '/' }
