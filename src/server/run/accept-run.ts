import type { Agent, Claims } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { createRunStream, type AgUiEvent, type RunInput, type RunStream } from '../../protocol/index.js'
import type { Lease, RunRecord, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks/hooks.js'
import { createOutputHooks, toVisibleCatchUp } from '../hooks/output-hooks.js'
import {
  changeInput,
  createRunInfo,
  initialState,
  recordInput,
  takeLock,
  type LiveRunInfo,
} from '../hooks/request-hooks.js'
import { stopAbandoned } from '../live/abandonment.js'
import type { LiveRun } from '../live/registry.js'
import { auditedAnswers } from '../observe/audit.js'
import { startRunSpan } from '../observe/tracing.js'
import { checkPlanSizes } from '../plan/check-sizes.js'
import { addKnownPart, wholeThread } from '../plan/known-version.js'
import { planRun } from '../plan/plan-run.js'
import type { AgentPlan, PlanRequest, RunPlan, StorePlan } from '../plan/run-plan.js'
import { recoverThread } from '../recovery/recover-thread.js'
import { adoptThread } from './agent-memory.js'
import { ReleaseStack, acquireLease, serverClosing } from './lease.js'
import { startLiveRun } from './live-run.js'
import { saveFork } from './save-fork.js'
import { callsWithResult, titleFor } from './thread-change.js'

/** A checked request for a run. */
export interface IncomingRun {
  readonly agent: Agent
  readonly key: ThreadKey
  readonly claims: Claims
  readonly input: RunInput
  /** Stops the request while it waits, and the run that it becomes. */
  readonly controller: AbortController
  /** Whether the client speaks AG-UI before 1.0. */
  readonly isLegacy: boolean
  /** Whether the run is stopped when nobody follows it for some time: its client cannot reconnect. */
  readonly needsSubscriber: boolean
  /** The version of the thread that the client knows, if it sends only what is new. */
  readonly knownVersion: number | undefined
  /** A request whose client disconnects stops waiting for the thread. */
  readonly request: Request
  /** Where it came from, if that is known. */
  readonly address: string | undefined
  /** Releases the slot of the request among the runs. It has one while it waits, too. */
  readonly releaseSlot: () => void
}

/** A live run, or the events of one that needs no agent. */
export type AcceptedRun =
  | { readonly type: 'live'; readonly run: LiveRun }
  | { readonly type: 'ended'; readonly runId: string; readonly events: readonly AgUiEvent[] }

/**
 * Turns a request into a live run: an abandoned run yields, then hooks, lease, recovery, plan, start. Rejects when the request is refused; nothing has
 * changed then. The lease and the application's lock are held until the run is over.
 */
export async function acceptRun(server: ServerContext, incoming: IncomingRun): Promise<AcceptedRun> {
  const { store, log } = server
  const { key, input, controller } = incoming
  const { signal } = controller
  const info = createRunInfo(incoming)
  server.board?.open(info, input)
  const releases = new ReleaseStack((error) =>
    log.error({ ...key, err: error }, 'a thread could not be freed'),
  )
  releases.defer(incoming.releaseSlot)
  try {
    // Before the lease: the live run may be over when the lease is granted.
    const messagesOnArrival = await countMessagesOnArrival(server, key)
    // Before the application's lock, which that run holds.
    await stopAbandoned(server, key)
    await recordInput(server, input, info)
    await takeLock(server, info, releases)
    const lease = await acquireLease(server, key, patienceOf(incoming))
    releases.defer(() => store.leases.release(lease))
    const accepted = await planAndStart({ server, incoming, lease, messagesOnArrival, info, releases })
    if (accepted.type === 'ended') await releases.releaseAll()
    return accepted
  } catch (error) {
    await releases.releaseAll()
    // The server may have stopped it, for a reason of its own.
    const isCancelled = signal.aborted && !MillraceError.isInstance(signal.reason)
    const refusal: unknown = signal.aborted ? signal.reason : error
    auditAnswers(server, incoming, {
      resume: input.resume,
      error: isCancelled ? cancelledRun() : refusal,
    })
    if (!isCancelled) throw refusal
    return runWithoutAgent(server, info, (stream) => stream.finish({ type: 'cancelled' }))
  }
}

function cancelledRun(): MillraceError {
  return new MillraceError('RUN_CANCELLED', 'The request was cancelled before its run began.')
}

/** Records the answers of a request, if it has any. */
function auditAnswers(
  { audit }: ServerContext,
  { key, input, address }: IncomingRun,
  { resume, error }: { readonly resume: RunInput['resume']; readonly error?: unknown },
): void {
  if (resume.length === 0) return
  const answers = auditedAnswers(resume)
  audit.record({ action: 'resume', ...key, runId: input.runId, answers, address }, error)
}

/**
 * The number of messages of a busy thread. A client that waits for the live run has not left out what that run is
 * going to add. Undefined when the request need not wait.
 */
async function countMessagesOnArrival(server: ServerContext, key: ThreadKey): Promise<number | undefined> {
  const { registry, store, whenBusy } = server
  const live = registry.get(key)
  if (live) return live.start.messages.length
  // Only the store knows of runs of other processes.
  if (whenBusy === 'reject' || !(await store.leases.isHeld(key))) return undefined
  const thread = await store.threads.load(key)
  const start = thread?.run?.status === 'running' ? thread.run.start : undefined
  return start ? start.keep + start.append.length : thread?.messages.length
}

/** The request waits until its client disconnects or cancels it. A getter: most requests never wait. */
function patienceOf({ request, controller }: IncomingRun): { readonly signal: AbortSignal } {
  return {
    get signal() {
      return AbortSignal.any([request.signal, controller.signal])
    },
  }
}

interface LeasedRun {
  readonly server: ServerContext
  readonly incoming: IncomingRun
  readonly lease: Lease
  readonly messagesOnArrival: number | undefined
  readonly info: LiveRunInfo
  readonly releases: ReleaseStack
}

async function planAndStart(leased: LeasedRun): Promise<AcceptedRun> {
  const { server, incoming, lease, messagesOnArrival, info } = leased
  const { metrics } = server
  // A list of what is new is no conversation.
  const history = incoming.knownVersion === undefined ? server.history : 'server'
  const rules = server.stateRulesOf(lease.key)
  const { isLegacy } = incoming
  const thread = await loadForRun(server, lease)
  const changed = await changeInput(server, { input: incoming.input, info, thread })
  const { input, isInStep } =
    incoming.knownVersion === undefined
      ? { input: changed, isInStep: undefined }
      : addKnownPart(changed, incoming.knownVersion, { thread, rules })
  const request = { thread, input, history, rules, isLegacy, messagesOnArrival }
  const planned = await withInitialState(leased, request, planRun(request))
  const plan = isInStep === false ? withWholeThread(planned, thread) : planned
  if (plan.type === 'run' || plan.type === 'store') checkPlanSizes(plan, server.limits)
  if (plan.type === 'run') {
    const run = await startOnThread(leased, { thread, input, plan })
    auditAnswers(server, incoming, plan)
    return { type: 'live', run }
  }
  if (plan.type === 'refuse') {
    auditAnswers(server, incoming, { resume: input.resume, error: plan.error })
    return runWithoutAgent(server, info, (stream) => stream.fail(plan.error))
  }
  const catchUp = await toVisibleCatchUp(server, plan.catchUp, info)
  const ended = await runWithoutAgent(server, info, (stream, emit) => {
    for (const event of catchUp) emit(event)
    stream.finish({ type: 'success' })
  })
  if (plan.type === 'store') await storePlan(leased, thread, plan)
  metrics.runEnded({ agent: lease.key.agent, status: 'nothing' })
  return ended
}

function withWholeThread(plan: RunPlan, thread: Thread | undefined): RunPlan {
  if (plan.type === 'refuse') return plan
  const { messages, state } = plan.type === 'nothing' ? (thread ?? { messages: [], state: {} }) : plan
  return { ...plan, catchUp: wholeThread(thread?.version ?? 0, { messages, state }) }
}

/** The plan with the state of `initialState`, asked only for a plan that makes the thread: so it is asked once. */
async function withInitialState(
  { server, info }: LeasedRun,
  request: PlanRequest,
  plan: RunPlan,
): Promise<RunPlan> {
  if (request.thread || plan.type === 'nothing' || plan.type === 'refuse') return plan
  const state = await initialState(server, request.input, info)
  return state === undefined ? plan : planRun({ ...request, initialState: state })
}

/** The thread, after recovery. A thread that nothing was committed to counts as none: its agent may remember it. */
async function loadForRun(server: ServerContext, lease: Lease): Promise<Thread | undefined> {
  const thread = await server.recoveries.during(lease.key, () => recoverThread(server, lease))
  if (thread !== undefined && thread.version > 0) return thread
  // Without messages, the client may bring the history. The run itself takes over the state.
  return adoptThread(server, lease, { whenEmpty: false })
}

/** A run that ends without an agent. Its events pass the output hooks like all others. */
async function runWithoutAgent(
  server: ServerContext,
  info: RunInfo,
  write: (stream: RunStream, emit: (event: AgUiEvent) => void) => void,
): Promise<AcceptedRun> {
  const { key, runId } = info
  const events: AgUiEvent[] = []
  const emit = (event: AgUiEvent): void => void events.push(event)
  write(createRunStream({ threadId: key.thread, runId, emit }), emit)
  const outputHooks = createOutputHooks(server, info) ?? ((event) => event)
  const output: AgUiEvent[] = []
  for (const event of events) output.push(await outputHooks(event))
  return { type: 'ended', runId, events: output }
}

interface ThreadPlan {
  readonly thread: Thread | undefined
  readonly input: RunInput
  readonly plan: AgentPlan
}

async function startOnThread(
  leased: LeasedRun,
  { thread, input, plan: first }: ThreadPlan,
): Promise<LiveRun> {
  const { server, incoming, lease, info, releases } = leased
  const { registry, store, clock, housekeeping, metrics, log } = server
  if (!thread) await housekeeping.makeRoom(lease.key, lease.key.thread)
  const forked = first.fork && thread ? await saveFork(server, thread, first) : first
  const plan = { ...forked, catchUp: await toVisibleCatchUp(server, forked.catchUp, info) }
  const record: RunRecord = {
    runId: input.runId,
    status: 'running',
    startedAt: clock.now(),
    // A client may answer with the id of the run that it answers. Its events are numbered on.
    nextSeq: thread?.run?.runId === input.runId ? thread.run.nextSeq : 0,
    start: {
      ...plan.change,
      state: plan.state,
      clientTools: input.tools.map(({ name }) => name),
      catchUp: plan.catchUp.length,
      ...(plan.resume.length > 0 ? { answers: plan.resume.map(({ interruptId }) => interruptId) } : {}),
    },
  }
  if (server.isClosing()) throw serverClosing()
  await store.threads.begin(lease, record)
  const { agent, controller, request, needsSubscriber } = incoming
  const { threadId, runId } = input
  const span = startRunSpan({ agent: agent.name, threadId, runId, headers: request.headers })
  const free = (): Promise<void> => releases.releaseAll()
  const run = startLiveRun({
    ...{ server, agent, info, lease, thread, plan, controller, record, span, free, needsSubscriber },
  })
  registry.add(run)
  server.board?.add(run, info)
  // The server began to close meanwhile: the run ends at once, with a terminal event.
  if (server.isClosing()) run.stop(serverClosing())
  releases.defer(() => registry.remove(run))
  metrics.runStarted({ agent: lease.key.agent })
  log.info({ ...lease.key, runId }, 'run started')
  return run
}

/** Stores results that came before the others of their message, or a state alone. */
async function storePlan(
  { server, lease }: LeasedRun,
  thread: Thread | undefined,
  plan: StorePlan,
): Promise<void> {
  const answered = callsWithResult(plan.change.append)
  if (!thread) await server.housekeeping.makeRoom(lease.key, lease.key.thread)
  await server.store.threads.commit(lease, {
    version: thread?.version ?? 0,
    ...plan.change,
    state: server.stateRulesOf(lease.key).stored(plan.state),
    interrupts: thread?.interrupts ?? [],
    pendingToolCalls: plan.pendingToolCalls.filter(({ id }) => !answered.has(id)),
    ...(thread?.checkpoint === undefined ? {} : { checkpoint: thread.checkpoint }),
    ...(thread?.title ? {} : { title: titleFor(plan.messages) }),
  })
}
