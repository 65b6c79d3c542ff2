import type { Agent } from '../../agents/index.js'
import type { RunInput } from '../../protocol/index.js'
import type { Lease, RunRecord, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks/hooks.js'
import type { LiveRun } from '../live/live-run.js'
import { startRunSpan } from '../observe/tracing.js'
import { planTurn, type TurnPlan } from '../plan/plan-run.js'
import { arrivedAt } from './arrived-at.js'
import { conductRun } from './run-agent.js'
import { createHolds, type Holds } from './release-stack.js'
import { shownOpening } from '../hooks/state-hook.js'
import { keepFork } from './save-fork.js'
import { titleOf } from './message-tail.js'
import { changedInput, recordInput, takeLock } from '../hooks/request-hooks.js'
import { cancelledEarly, eventsOf, overTurn, type OverTurn } from './over-turn.js'
import { recoverThread } from '../recovery/recover-thread.js'
import { adoptThread } from './agent-memory.js'
import { serverClosing } from './server-closing.js'
import { takeLease } from './take-lease.js'

export interface TurnRequest {
  readonly agent: Agent
  readonly key: ThreadKey
  readonly input: RunInput
  /** Stops the request while it waits, and the run that it becomes. */
  readonly controller: AbortController
  /** Whether the client is one from before 1.0. */
  readonly isLegacy: boolean
  /** As it came in. When the client goes away, nobody waits for the thread any more. */
  readonly request: Request
}

/** What a request leads to: a run at work, or a stream that is over before anything is run. */
export type Turn = { readonly type: 'live'; readonly run: LiveRun } | OverTurn

/**
 * From a checked request to a run at work. Rejects when the request is refused; then nothing has changed. The lease and
 * the team's own lock are held until the run is over.
 */
export async function openTurn(server: ServerContext, request: TurnRequest): Promise<Turn> {
  const { store, log } = server
  const { key, input, controller } = request
  const info: RunInfo = { key, runId: input.runId, signal: controller.signal }
  const holds = createHolds((error) => log.error({ ...key, err: error }, 'a thread could not be freed'))
  // First: the run at work may be over when it is its turn.
  const arrived = await arrivedAt(server, key)
  try {
    await recordInput(server, input, info)
    await takeLock(server, info, holds)
    const lease = await takeLease(server, key, patience(request))
    holds.add(() => store.leases.release(lease))
    const turn = await planned({ server, request, lease, arrived, controller, info, holds })
    if (turn.type === 'over') await holds.free()
    return turn
  } catch (error) {
    await holds.free()
    if (!controller.signal.aborted) throw error
    return overTurn(server, info, cancelledEarly(input, controller.signal))
  }
}

/** Who waits until the client goes away or the request is cancelled. A getter: most never wait. */
function patience({ request, controller }: TurnRequest): { readonly signal: AbortSignal } {
  return {
    get signal() {
      return AbortSignal.any([request.signal, controller.signal])
    },
  }
}

interface Leased {
  readonly server: ServerContext
  readonly request: TurnRequest
  readonly lease: Lease
  /** How many messages there were before it had to wait. */
  readonly arrived: number | undefined
  readonly controller: AbortController
  readonly info: RunInfo
  readonly holds: Holds
}

async function planned(leased: Leased): Promise<Turn> {
  const { server, request, lease, arrived, info } = leased
  const { history, stateRules, metrics } = server
  const thread =
    committed(await server.recoveries.during(lease.key, () => recoverThread(server, lease))) ??
    (await adoptThread(server, lease))
  const input = await changedInput(server, { input: request.input, info, thread })
  const { isLegacy } = request
  const plan = planTurn({ thread, input, history, rules: stateRules, isLegacy, arrivedAt: arrived })
  if (plan.type === 'run')
    return { type: 'live', run: await start({ ...leased, ...{ thread, input, plan } }) }
  const opening = plan.type === 'hold' ? await shownOpening(server, plan.opening, info) : []
  const turn = await overTurn(server, info, eventsOf(request.input, plan, opening))
  if (plan.type === 'hold') await hold(leased, thread, plan)
  if (plan.type !== 'refuse') metrics.runEnded({ agent: lease.key.agent, status: 'nothing' })
  return turn
}

/** A thread that a run has begun and never committed is as good as none, but for its run. */
function committed(thread: Thread | undefined): Thread | undefined {
  return thread?.version === 0 ? undefined : thread
}

interface Starting extends Leased {
  readonly thread: Thread | undefined
  readonly input: RunInput
  readonly plan: Extract<TurnPlan, { type: 'run' }>
}

async function start({ holds, ...starting }: Starting): Promise<LiveRun> {
  const { server, request, lease, thread, input, controller } = starting
  const { registry, store, clock, housekeeping, metrics, log } = server
  holds.add(registry.reserve(lease.key))
  if (!thread) await housekeeping.makeRoom(lease.key, lease.key.thread)
  const kept = starting.plan.fork && thread ? await keepFork(server, thread, starting.plan) : starting.plan
  const plan = { ...kept, opening: await shownOpening(server, kept.opening, starting.info) }
  const record: RunRecord = {
    runId: input.runId,
    status: 'running',
    startedAt: clock.now(),
    // Clients may use the id of the run they answer once more. Its events are numbered on.
    nextSeq: thread?.run?.runId === input.runId ? thread.run.nextSeq : 0,
    start: {
      ...plan.change,
      state: plan.state,
      clientTools: input.tools.map(({ name }) => name),
      opening: plan.opening.length,
      ...(plan.resume.length > 0 ? { isAnswering: true } : {}),
    },
  }
  if (server.isClosing()) throw serverClosing()
  await store.threads.begin(lease, record)
  const { agent } = request
  // What the client has sent of the history is not kept while the run is at work.
  const { threadId, runId, parentRunId, tools, context } = input
  const forwardedProps: unknown = input.forwardedProps
  const asked = { threadId, runId, parentRunId, tools, context, forwardedProps }
  const span = startRunSpan({ agent: agent.name, threadId, runId, headers: request.request.headers })
  const free = (): Promise<void> => holds.free()
  const order = { agent, server, lease, thread, input: asked, plan, controller, record, span, free }
  const run = conductRun(order)
  registry.add(run)
  // The doors were closed while it was about to start: it ends at once, with a terminal event.
  if (server.isClosing()) run.stop(serverClosing())
  holds.add(() => registry.remove(run))
  metrics.runStarted({ agent: lease.key.agent })
  log.info({ ...lease.key, runId: input.runId }, 'run started')
  return run
}

/** Stores results that came before the others of their turn. */
async function hold(
  { server, lease }: Leased,
  thread: Thread | undefined,
  plan: Extract<TurnPlan, { type: 'hold' }>,
): Promise<void> {
  const answered = new Set(
    plan.change.append.flatMap((message) => (message.role === 'tool' ? [message.toolCallId] : [])),
  )
  await server.store.threads.commit(lease, {
    version: thread?.version ?? 0,
    ...plan.change,
    state: server.stateRules.stored(plan.state),
    interrupts: thread?.interrupts ?? [],
    pendingToolCalls: (thread?.pendingToolCalls ?? []).filter(({ id }) => !answered.has(id)),
    ...(thread?.checkpoint === undefined ? {} : { checkpoint: thread.checkpoint }),
    ...(thread?.title ? {} : { title: titleOf(plan.messages) }),
  })
}
