import { toWireError } from '../../core/errors.js'
import { parseRunInput } from '../../protocol/index.js'
import { checkRunInput } from '../request/check-input.js'
import type { LiveRun } from '../live/live-run.js'
import { openTurn, type Turn } from '../run/open-run.js'
import { serverClosing } from '../run/server-closing.js'
import type { Batch } from '../stream/framing.js'
import { replyWithStream, type StreamReply } from '../stream/reply.js'
import type { Departure } from '../stream/sink.js'
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
    const { runId, threadId } = input
    const key = { app: owner.app, user: owner.user, agent: owner.agent, thread: threadId }
    if (warnings.length > 0) server.log.warn({ ...key, runId, warnings }, 'a request was not quite right')
    const began = server.clock.now()
    const controller = new AbortController()
    const turnRequest = { agent, key, input, controller, isLegacy: peer.legacy, request: request.request }
    const opening = openTurn(server, turnRequest)
    server.openings.add(opening, { key, runId, controller })
    const opened = (): void => server.openings.delete(opening)
    // It is waited for further down too, but that may be too late for one that is refused at once.
    opening.then(opened, opened)
    // Who has to wait for a thread is told so by a stream that is open; all else is refused before there is one.
    const isWaiting = server.whenBusy !== 'reject' && server.registry.get(key) !== undefined
    const turn = isWaiting ? opening.catch((error: unknown) => refused(server, error, runId)) : await opening
    return replyWithStream(server, request, {
      peer,
      ...following(server, turn, { agent: agent.name, began }),
    })
  },
}

interface Asked {
  readonly agent: string
  readonly began: number
}

/**
 * The stream of a turn, which may still have to wait for its thread. Not part of the above: what that has in its scope, the
 * whole request, would stay in memory for as long as the client.
 */
function following(
  server: RouteContext,
  turn: Turn | Promise<Turn>,
  { agent, began }: Asked,
): Pick<StreamReply, 'source' | 'onEnd'> {
  let live: LiveRun | undefined
  const begin = (opened: Turn, gone: Departure): AsyncIterable<Batch> | Iterable<Batch> => {
    server.metrics.firstEvent({ agent }, (server.clock.now() - began) / 1000)
    if (opened.type === 'over') return [{ events: opened.events }]
    live = opened.run
    return live.feed.follow(live.firstSeq - 1, gone)
  }
  const later = async function* (opening: Promise<Turn>, gone: Departure): AsyncGenerator<Batch> {
    yield* begin(await opening, gone)
  }
  return {
    source: (gone) => (turn instanceof Promise ? later(turn, gone) : begin(turn, gone)),
    onEnd: (end) => {
      if (end === 'client' && server.onDisconnect === 'cancel') live?.stop()
    },
  }
}

function refused(server: RouteContext, error: unknown, runId: string): Turn {
  server.log.warn({ runId, err: error }, 'a run could not be started')
  return { type: 'over', runId, events: [{ type: 'RUN_ERROR', ...toWireError(error, 'INTERNAL_ERROR') }] }
}

/** The same at the root of the server, which is where most clients look. */
export const rootRoute: Route = { ...runRoute, path: '/' }
