import { toWireError } from '../../core/errors.js'
import { parseRunInput } from '../../protocol/index.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { LiveRun } from '../live/registry.js'
import { readKnownVersion } from '../plan/known-version.js'
import { withActionReport } from '../request/a2ui-action.js'
import { checkRunInput } from '../request/check-input.js'
import { readHeldJson, type HeldJson } from '../request/read-json.js'
import { acceptRun, type AcceptedRun } from '../run/accept-run.js'
import { serverClosing } from '../run/lease.js'
import type { FrameBatch } from '../stream/framing.js'
import { replyWithStream, type StreamReply } from '../stream/reply.js'
import type { DisconnectSignal } from '../stream/sink.js'
import type { Route, RouteRequest } from './route.js'

/** `POST /run`: runs the agent on a thread and streams the events of the run. */
export const runRoute: Route = {
  method: 'POST',
  path: '/run',
  streams: true,
  async handle(server, request) {
    const body = await readHeldJson(request.request, request.owner, server)
    try {
      return await startRun(server, request, body)
    } catch (error) {
      body.release()
      throw error
    }
  },
}

async function startRun(
  server: ServerContext,
  request: RouteRequest,
  { value, release }: HeldJson,
): Promise<Response> {
  const parsed = parseRunInput(value)
  const { peer, warnings } = parsed
  checkRunInput(parsed.input, server.limits)
  const input = withActionReport(parsed.input, server.limits)
  if (server.isClosing()) throw serverClosing()
  const { owner, agent, claims } = request
  const { runId, threadId } = input
  const key = { app: owner.app, user: owner.user, agent: owner.agent, thread: threadId }
  if (warnings.length > 0) server.log.warn({ ...key, runId, warnings }, 'a request was not quite right')
  const requestedAt = server.clock.now()
  const controller = new AbortController()
  const incoming = {
    agent,
    key,
    claims,
    input,
    controller,
    isLegacy: peer.legacy,
    needsSubscriber: server.onDisconnect === 'auto' && !canReconnect(server, request.request.headers),
    knownVersion: readKnownVersion(request.request.headers),
    request: request.request,
    address: request.address,
    // Before it waits for anything: what waits takes memory too.
    releaseSlot: server.registry.reserve(key, { isReplacing: replacesLiveRun(server, key) }),
  }
  // Until the run starts, its input waits in memory as its body did.
  const accepting = acceptRun(server, incoming).finally(release)
  server.registry.starting.add(accepting, { key, runId, controller })
  // A request that must wait for the thread gets its stream at once; all other refusals are plain HTTP errors.
  const mustWait = server.whenBusy !== 'reject' && server.registry.get(key) !== undefined
  const run = mustWait
    ? accepting.catch((error: unknown) => refusedRun(server, error, runId))
    : await accepting
  return replyWithStream(server, request, {
    ...{ peer, ids: { ...key, runId } },
    ...subscribeTo(server, run, { agent: agent.name, requestedAt }),
  })
}

/** Whether a run on this thread stops the one that is live. */
function replacesLiveRun({ registry, whenBusy }: ServerContext, key: ThreadKey): boolean {
  return whenBusy === 'preempt' || whenBusy === 'cancel-previous' || registry.get(key)?.isAbandoned === true
}

/** The same at the root of the server, where most clients send runs. */
export const rootRoute: Route = { ...runRoute, path: '/' }

/** Whether the client says that it follows its run again after a disconnect, and can. */
function canReconnect({ routes }: ServerContext, headers: Headers): boolean {
  return routes.connect !== false && headers.get('millrace-reconnects')?.toLowerCase() === 'true'
}

function refusedRun(server: ServerContext, error: unknown, runId: string): AcceptedRun {
  server.log.warn({ runId, err: error }, 'a run could not be started')
  return { type: 'ended', runId, events: [{ type: 'RUN_ERROR', ...toWireError(error, 'INTERNAL_ERROR') }] }
}

/**
 * Subscribes to a run, which may still have to wait for its thread. A function of its own: the request in the scope above would
 * stay in memory as long as the stream.
 */
function subscribeTo(
  server: ServerContext,
  run: AcceptedRun | Promise<AcceptedRun>,
  { agent, requestedAt }: { readonly agent: string; readonly requestedAt: number },
): Pick<StreamReply, 'source' | 'onEnd'> {
  let live: LiveRun | undefined
  const subscribe = (
    accepted: AcceptedRun,
    signal: DisconnectSignal,
  ): AsyncIterable<FrameBatch> | Iterable<FrameBatch> => {
    server.metrics.firstEvent({ agent }, (server.clock.now() - requestedAt) / 1000)
    if (accepted.type === 'ended') return [{ events: accepted.events }]
    live = accepted.run
    return live.feed.subscribe(live.firstSeq - 1, signal)
  }
  const subscribeLater = async function* (
    later: Promise<AcceptedRun>,
    signal: DisconnectSignal,
  ): AsyncGenerator<FrameBatch> {
    yield* subscribe(await later, signal)
  }
  return {
    source: (signal) => (run instanceof Promise ? subscribeLater(run, signal) : subscribe(run, signal)),
    onEnd: (end) => {
      if (end === 'client' && server.onDisconnect === 'cancel') live?.stop()
    },
  }
}
