import type { Agent } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { createRunStream, type AgUiEvent, type RunInput } from '../../protocol/index.js'
import type { Lease } from '../../threads/store.js'
import type { RunRecord, Thread, ThreadKey } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import type { LiveRun } from '../live/live-run.js'
import { planTurn, type TurnPlan } from '../turn/plan-turn.js'
import { callHook } from './call-hook.js'
import { conductRun } from './conduct-run.js'
import { keepFork } from './keep-fork.js'
import { titleOf } from './message-tail.js'
import { recoverThread } from './recover-run.js'
import { takeLease } from './take-lease.js'

export interface TurnRequest {
  readonly agent: Agent
  readonly key: ThreadKey
  readonly input: RunInput
  readonly headers: Headers
  /** Of the client: when it goes away, nobody waits for the thread any more. */
  readonly signal: AbortSignal
}

/** What a request leads to: a run at work, or a stream that is over before anything is run. */
export type Turn =
  | { readonly type: 'live'; readonly run: LiveRun }
  | { readonly type: 'over'; readonly runId: string; readonly events: readonly AgUiEvent[] }

/**
 * From a checked request to a run at work. Rejects when the request is refused; then nothing has changed. The lease and
 * the team's own lock are held until the run is over.
 */
export async function openTurn(server: ServerContext, request: TurnRequest): Promise<Turn> {
  const { hooks, store, log } = server
  const { key, input, signal } = request
  const controller = new AbortController()
  const info: RunInfo = { key, runId: input.runId, signal: controller.signal }
  await callHook('inputRecord', () => hooks.inputRecord?.(input, info))
  const unlock = await callHook('lock', () => hooks.lock?.(info))
  const held: { lease?: Lease; leave?: () => void } = {}
  const free = async (): Promise<void> => {
    try {
      held.leave?.()
      if (held.lease) await store.leases.release(held.lease)
      await unlock?.()
    } catch (error) {
      log.error({ ...key, runId: input.runId, err: error }, 'a thread could not be freed')
    }
  }
  try {
    held.lease = await takeLease(server, key, signal)
    const turn = await planned({ server, request, lease: held.lease, controller, info }, (leave) => {
      held.leave = leave
      return free
    })
    if (turn.type === 'over') await free()
    return turn
  } catch (error) {
    await free()
    throw error
  }
}

interface Leased {
  readonly server: ServerContext
  readonly request: TurnRequest
  readonly lease: Lease
  readonly controller: AbortController
  readonly info: RunInfo
}

/** `onStart` is told how to give back what the run takes, and gives what frees the thread. */
async function planned(leased: Leased, onStart: (leave: () => void) => () => Promise<void>): Promise<Turn> {
  const { server, request, lease, info } = leased
  const { hooks, history, stateRules } = server
  const thread = committed(await recoverThread(server, lease))
  const { interrupts = [], pendingToolCalls = [] } = thread ?? {}
  const known = { ...info, thread: { interrupts, pendingToolCalls } }
  const { inputChange } = hooks
  const input = inputChange
    ? await callHook('inputChange', () => inputChange(request.input, known))
    : request.input
  const plan = planTurn({ thread, input, history, rules: stateRules })
  switch (plan.type) {
    case 'refuse':
      return over(input, plan)
    case 'nothing':
      return over(input, plan)
    case 'hold':
      await hold(leased, thread, plan)
      return over(input, plan)
    case 'run':
      return { type: 'live', run: await start({ ...leased, thread, input, plan }, onStart) }
  }
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

async function start(
  starting: Starting,
  onStart: (leave: () => void) => () => Promise<void>,
): Promise<LiveRun> {
  const { server, request, lease, thread, input, controller } = starting
  const { registry, store, clock, housekeeping, metrics, log } = server
  const leave = registry.reserve(lease.key)
  let run: LiveRun | undefined
  const free = onStart(() => {
    leave()
    if (run) registry.remove(run)
  })
  if (!thread) await housekeeping.makeRoom(lease.key, lease.key.thread)
  const plan = starting.plan.fork && thread ? await keepFork(server, thread, starting.plan) : starting.plan
  const record: RunRecord = {
    runId: input.runId,
    status: 'running',
    startedAt: clock.now(),
    // Clients may use the id of the run they answer once more. Its events are numbered on.
    nextSeq: thread?.run?.runId === input.runId ? thread.run.nextSeq : 0,
    start: { ...plan.change, state: plan.state, clientTools: input.tools.map(({ name }) => name) },
  }
  await store.threads.begin(lease, record)
  run = conductRun({ ...request, server, lease, thread, input, plan, controller, record, free })
  registry.add(run)
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

/** The stream of a turn in which no agent has a part. */
function over({ threadId, runId }: RunInput, plan: Exclude<TurnPlan, { type: 'run' }>): Turn {
  const events: AgUiEvent[] = []
  const stream = createRunStream({ threadId, runId, emit: (event) => events.push(event) })
  if (plan.type === 'hold') events.push(...plan.opening)
  if (plan.type === 'refuse') stream.fail(plan.error)
  else stream.finish({ type: 'success' })
  return { type: 'over', runId, events }
}
