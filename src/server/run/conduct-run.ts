import { startRun, type Agent, type Outcome } from '../../agents/index.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { createFold, type AgUiEvent, type RunInput } from '../../protocol/index.js'
import type { Lease } from '../../threads/store.js'
import type { RunRecord, Thread } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import { createFeed, type Feed } from '../live/feed.js'
import type { LiveRun } from '../live/live-run.js'
import { startRunSpan } from '../tracing.js'
import type { TurnPlan } from '../turn/plan-turn.js'
import { callHook } from './call-hook.js'
import { hookedAgent } from './hooked-agent.js'
import { keepLease } from './keep-lease.js'
import { createOutgoing } from './outgoing.js'
import { statusOf, threadChange, type SavedCheckpoint } from './thread-change.js'

export interface RunOrder {
  readonly server: ServerContext
  readonly agent: Agent
  readonly input: RunInput
  readonly headers: Headers
  readonly lease: Lease
  readonly thread: Thread | undefined
  readonly plan: Extract<TurnPlan, { type: 'run' }>
  readonly controller: AbortController
  readonly record: RunRecord
  /** Frees the thread. Called once, when all is committed and before anybody learns of the end. Never rejects. */
  readonly free: () => Promise<void>
}

/** Runs an agent on a leased thread: events to those who follow and to the log, then one commit. */
export function conductRun(order: RunOrder): LiveRun {
  const { server, agent, input, lease, plan, controller, record } = order
  const { limits, clock, newId, log, stateRules, hooks } = server
  const { runId, threadId } = input
  const info: RunInfo = { key: lease.key, runId, signal: controller.signal }
  const feed = feedOf(order)
  const span = startRunSpan({ agent: agent.name, threadId, runId, headers: order.headers })
  const stopRenewing = keepLease({ server, lease, onLost: (error) => controller.abort(error) })
  const stopTimer = hooks.runtimeTimeout ? () => undefined : limitTime(order)
  let saved: SavedCheckpoint | undefined

  const run = startRun(
    hookedAgent(agent, { hooks, info, runTimeoutMs: limits.runTimeoutMs }),
    { ...input, messages: plan.messages, state: plan.state },
    {
      signal: controller.signal,
      checkpoints: {
        load: () => Promise.resolve(order.thread?.checkpoint),
        save: (_, checkpoint) => {
          saved = checkpoint
          return Promise.resolve()
        },
      },
      toolTimeoutMs: limits.toolTimeoutMs,
      trace: span.context,
      newId,
      clock,
      onProblem: (problem) => log.warn({ ...lease.key, runId, problem }, 'a run was repaired'),
      sink: {
        send: sender(order, feed, info),
        end: (event, outcome) => finish({ ...order, feed, info, saved }, event, outcome),
      },
    },
  )
  const done = run.result.then((outcome) => {
    stopRenewing()
    stopTimer()
    span.end({ status: outcome.type, ...errorOf(outcome), usage: outcome.usage })
  })
  return {
    key: lease.key,
    runId,
    feed,
    firstSeq: record.nextSeq,
    start: { messages: plan.messages, state: stateRules.visible(plan.state) },
    stop: (reason) => controller.abort(reason),
    done,
  }
}

function feedOf({ server, lease, record }: RunOrder): Feed {
  const { store, limits, flusher } = server
  const { runId, nextSeq } = record
  const feed: Feed = createFeed({
    firstSeq: nextSeq,
    bufferBytes: limits.bufferBytes,
    append: (entries) =>
      store.log.append(lease, {
        runId,
        firstSeq: entries[0]?.seq ?? 0,
        lines: entries.map(({ json }) => json),
      }),
    read: (after, limit) => store.log.read(lease.key, { runId, after }, limit),
    flushSoon: () => flusher.soon(flush),
  })
  const flush = (): Promise<void> => feed.flush()
  return feed
}

function limitTime({ server, controller }: RunOrder): () => void {
  const { clock, limits } = server
  const { runTimeoutMs } = limits
  return clock.schedule(runTimeoutMs, () => {
    controller.abort(new MillraceError('EXECUTION_TIMEOUT', `The run took longer than ${runTimeoutMs} ms.`))
  })
}

/** Takes the events of a run as they come. Never throws: a hook that fails stops the run, and its event is sent as it was. */
function sender(order: RunOrder, feed: Feed, info: RunInfo): (event: AgUiEvent) => Promise<void> | undefined {
  const { server, input, plan, controller } = order
  const { stateRules, hooks } = server
  const full = createFold({ state: plan.state })
  const clientTools = new Set(input.tools.map(({ name }) => name))
  const clientCalls = new Set<string>()
  const outgoing = createOutgoing(hooks, info)

  /** What must not be forgotten once it is seen: a call that the client carries out. */
  const isCritical = (event: AgUiEvent): boolean => {
    if (event.type === 'TOOL_CALL_START' && clientTools.has(event.toolCallName))
      clientCalls.add(event.toolCallId)
    return event.type === 'TOOL_CALL_END' && clientCalls.has(event.toolCallId)
  }
  const push = (event: AgUiEvent): Promise<void> | undefined => {
    if (!isCritical(event)) return feed.push(event)
    return feed.pushSafely(event).catch((error: unknown) => controller.abort(storeError(error)))
  }
  const pass = (event: AgUiEvent): Promise<void> | undefined => {
    if (!outgoing) return push(event)
    return outgoing(event).then(push, (error: unknown) => {
      controller.abort(error)
      return push(event)
    })
  }
  const send = (event: AgUiEvent): Promise<void> | undefined => {
    if (event.type !== 'STATE_SNAPSHOT' && event.type !== 'STATE_DELTA') return pass(event)
    full.apply(event)
    const shown = stateRules.showEvent(event, full.state)
    return shown && pass(shown)
  }
  return (event) => {
    if (event.type !== 'RUN_STARTED' || plan.opening.length === 0) return send(event)
    return sendAll([event, ...plan.opening], send)
  }
}

async function sendAll(
  events: readonly AgUiEvent[],
  send: (event: AgUiEvent) => Promise<void> | undefined,
): Promise<void> {
  for (const event of events) await send(event)
}

interface Finishing extends RunOrder {
  readonly feed: Feed
  readonly info: RunInfo
  readonly saved: SavedCheckpoint | undefined
}

/** Commits what the run has changed, frees the thread, and shows the end: in this order. Never rejects. */
async function finish(given: Finishing, terminal: AgUiEvent, outcome: Outcome): Promise<void> {
  const { server, lease, feed, free, record, input } = given
  let failure: AgUiEvent | undefined
  let status: RunRecord['status'] = statusOf(outcome)
  try {
    const last = await lastEvent(given, terminal, outcome)
    const entries = await feed.seal(last)
    const change = threadChange({
      ...given,
      outcome,
      clientTools: new Set(input.tools.map(({ name }) => name)),
      run: { ...record, endedAt: server.clock.now(), nextSeq: feed.nextSeq, ...errorOf(outcome) },
      stateRules: server.stateRules,
    })
    const { start: _, ...ended } = change.run ?? { ...record, start: undefined }
    const lines = entries.map(({ json }) => json)
    const log = { runId: record.runId, firstSeq: entries[0]?.seq ?? feed.nextSeq, lines }
    await server.store.threads.commit(lease, { ...change, run: ended, log })
  } catch (error) {
    server.log.error({ ...lease.key, runId: record.runId, err: error }, 'a run could not be committed')
    server.metrics.storeFailed()
    status = 'failed'
    failure = { type: 'RUN_ERROR', ...toWireError(error, 'BACKGROUND_EXECUTION_ERROR') }
  }
  if (outcome.type === 'failed')
    server.log.error({ ...lease.key, runId: record.runId, err: outcome.error }, 'a run has failed')
  await free()
  server.metrics.runEnded({ agent: lease.key.agent, status })
  feed.close(failure)
}

/** Shows the state, and gives the last event as the hooks leave it. */
async function lastEvent(
  { server, feed, info }: Finishing,
  terminal: AgUiEvent,
  outcome: Outcome,
): Promise<AgUiEvent> {
  const { hooks, stateRules } = server
  const outgoing = createOutgoing(hooks, info) ?? ((event: AgUiEvent) => Promise.resolve(event))
  if (terminal.type === 'RUN_ERROR') return outgoing(terminal).catch(() => terminal)
  try {
    const { stateSnapshot } = hooks
    const visible = stateRules.visible(outcome.state)
    const snapshot = stateSnapshot
      ? await callHook('stateSnapshot', () => stateSnapshot(visible, info))
      : visible
    if (snapshot !== undefined) await feed.push(await outgoing({ type: 'STATE_SNAPSHOT', snapshot }))
    return await outgoing(terminal)
  } catch (error) {
    return { type: 'RUN_ERROR', ...toWireError(error, 'HOOK_ERROR') }
  }
}

function errorOf(outcome: Outcome): Pick<RunRecord, 'error'> {
  return outcome.type === 'failed' ? { error: toWireError(outcome.error) } : {}
}

function storeError(cause: unknown): MillraceError {
  if (MillraceError.isInstance(cause)) return cause
  return new MillraceError('STORE_ERROR', 'The log of the run cannot be written.', { cause })
}
