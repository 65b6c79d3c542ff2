import { startRun, type Agent, type Outcome } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { RunInput } from '../../protocol/index.js'
import type { Lease } from '../../threads/store.js'
import type { RunRecord, Thread } from '../../threads/thread.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import { createFeed, type Feed } from '../live/feed.js'
import type { LiveRun } from '../live/live-run.js'
import type { RunSpan } from '../tracing.js'
import type { TurnPlan } from '../turn/plan-turn.js'
import { finishRun, type RunEnding } from './finish-run.js'
import { hookedAgent } from './hooked-agent.js'
import { keepLease } from './keep-lease.js'
import { createSender } from './send-events.js'
import type { SavedCheckpoint } from './thread-change.js'

/** All that a run needs. */
export interface RunOrder {
  readonly server: ServerContext
  readonly agent: Agent
  readonly input: RunInput
  readonly lease: Lease
  readonly thread: Thread | undefined
  readonly plan: Extract<TurnPlan, { type: 'run' }>
  readonly controller: AbortController
  readonly record: RunRecord
  readonly span: RunSpan
  /** Frees the thread. Called once, when all is committed and before anybody learns of the end. Never rejects. */
  readonly free: () => Promise<void>
}

/** Runs an agent on a leased thread: events to those who follow and to the log, then one commit. */
export function conductRun(order: RunOrder): LiveRun {
  const { server, agent, input, lease, plan, controller, record, span } = order
  const { limits, clock, newId, log, stateRules } = server
  const { runId } = input
  const info: RunInfo = { key: lease.key, runId, signal: controller.signal }
  const feed = feedOf(order)
  const sender = createSender(order, feed, info)
  const stopRenewing = keepLease({
    ...{ store: server.store, lease, leaseMs: limits.leaseMs, clock },
    onLost: (error) => controller.abort(error),
    onProblem: (error) => log.warn({ ...lease.key, err: error }, 'a lease could not be renewed'),
  })
  const stopTimer = limitTime(order)
  let saved: SavedCheckpoint | undefined
  let ended: RunEnding | undefined

  const run = startRun(
    hookedAgent(agent, { server, info }),
    { ...input, messages: plan.messages, state: plan.state, resume: plan.resume },
    {
      controller,
      checkpoints: {
        load: () => Promise.resolve(order.thread?.checkpoint),
        // Committed with all else that the run has changed.
        save: (_, checkpoint) => Promise.resolve(void (saved = checkpoint)),
      },
      toolTimeoutMs: limits.toolTimeoutMs,
      trace: span.context,
      newId,
      clock,
      onProblem: (problem) => log.warn({ ...lease.key, runId, problem }, 'a run was repaired'),
      sink: {
        send: sender.send,
        async end(event, outcome) {
          ended = await finishRun({ ...order, feed, info, saved, problem: sender.problem() }, event, outcome)
        },
      },
    },
  )
  const wrapUp = (outcome: Outcome): void => {
    stopRenewing()
    stopTimer()
    span.end({ status: outcome.type, ...ended, usage: outcome.usage })
  }
  return {
    key: lease.key,
    runId,
    feed,
    firstSeq: record.nextSeq,
    startedAt: record.startedAt,
    isFirst: order.thread === undefined,
    start: { messages: plan.messages, state: stateRules.visible(plan.state) },
    stop: (reason) => controller.abort(reason),
    done: run.result.then(wrapUp),
  }
}

function feedOf({ server, lease, record }: RunOrder): Feed {
  const { store, limits, flusher } = server
  const { runId, nextSeq } = record
  const feed: Feed = createFeed({
    firstSeq: nextSeq,
    bufferBytes: limits.bufferBytes,
    append: (batch) => store.log.append(lease, { runId, ...batch }),
    read: (after, limit) => store.log.read(lease.key, { runId, after }, limit),
    flushSoon: () => flusher.soon(flush),
  })
  const flush = (): Promise<void> => feed.flush()
  return feed
}

/** Also holds for a run that is never silent: it lets timers have their turn. */
function limitTime({ server, controller }: RunOrder): () => void {
  const { clock, limits, hooks } = server
  // Then the agent is stopped inside the run, so that the hook can say something in its place.
  if (hooks.runtimeTimeout) return () => undefined
  const { runTimeoutMs } = limits
  return clock.schedule(runTimeoutMs, () => {
    controller.abort(new MillraceError('EXECUTION_TIMEOUT', `The run took longer than ${runTimeoutMs} ms.`))
  })
}
