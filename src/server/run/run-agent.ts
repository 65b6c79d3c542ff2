import {
  startRun,
  type Agent,
  type CheckpointStore,
  type Outcome,
  type RunSink,
  type StartedRun,
} from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent, RunInput } from '../../protocol/index.js'
import type { Lease, RunRecord, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks/hooks.js'
import { createFeed, type Feed } from '../live/feed.js'
import type { LiveRun } from '../live/live-run.js'
import type { RunSpan } from '../observe/tracing.js'
import type { TurnPlan } from '../plan/plan-run.js'
import { createFeedLog } from './feed-log.js'
import { finishRun, type RunEnding } from './commit-run.js'
import { eventEdit, hookedAgent, nativeHooks } from '../hooks/agent-hooks.js'
import { keepLease } from './keep-lease.js'
import { createSender, type Sender } from './event-pipe.js'
import type { SavedCheckpoint } from './thread-change.js'

/** All that a run needs. */
export interface RunOrder {
  readonly server: ServerContext
  readonly agent: Agent
  readonly input: AskedRun
  readonly lease: Lease
  readonly thread: Thread | undefined
  readonly plan: Extract<TurnPlan, { type: 'run' }>
  readonly controller: AbortController
  readonly record: RunRecord
  readonly span: RunSpan
  /** Frees the thread. Called once, when all is committed and before anybody learns of the end. Never rejects. */
  readonly free: () => Promise<void>
}

/** What of a request counts for its run. Messages, state and answers are those of the plan. */
interface AskedRun extends Pick<RunInput, 'threadId' | 'runId' | 'tools' | 'context'> {
  readonly parentRunId: string | undefined
  readonly forwardedProps: unknown
}

/** Runs an agent on a leased thread: events to those who follow and to the log, then one commit. */
export function conductRun(order: RunOrder): LiveRun {
  return new ConductedRun(order)
}

// One object for all that a run at work needs of the server, not a closure for each.
class ConductedRun implements LiveRun, RunSink, CheckpointStore {
  readonly key: ThreadKey
  readonly runId: string
  readonly feed: Feed
  readonly firstSeq: number
  readonly startedAt: number
  readonly isFirst: boolean
  readonly start: LiveRun['start']
  readonly done: Promise<void>
  readonly #order: RunOrder
  readonly #info: RunInfo
  readonly #sender: Sender
  #started: StartedRun | undefined
  #saved: SavedCheckpoint | undefined
  #ended: RunEnding | undefined

  constructor(order: RunOrder) {
    const { server, lease, plan, controller, record } = order
    this.#order = order
    this.key = lease.key
    this.runId = record.runId
    this.firstSeq = record.nextSeq
    this.startedAt = record.startedAt
    this.isFirst = order.thread === undefined
    this.start = { messages: plan.messages, state: server.stateRules.visible(plan.state) }
    this.feed = createFeed(createFeedLog(order, () => this.#sender.state()))
    this.#info = { key: lease.key, runId: record.runId, signal: controller.signal }
    this.#sender = createSender(order, this.feed, this.#info)
    this.done = this.#run()
  }

  stop(reason?: Error): void {
    this.#order.controller.abort(reason)
  }

  stopAfterTools(timeoutMs: number): void {
    this.#started?.cancel({ at: 'tools', timeoutMs })
  }

  load(): Promise<unknown> {
    return Promise.resolve(this.#order.thread?.checkpoint)
  }

  /** Committed with all else that the run has changed. */
  save(_: string, checkpoint: SavedCheckpoint): Promise<void> {
    this.#saved = checkpoint
    return Promise.resolve()
  }

  send(event: AgUiEvent): Promise<void> | undefined {
    return this.#sender.send(event)
  }

  async end(event: AgUiEvent, outcome: Outcome): Promise<void> {
    const [saved, problem] = [this.#saved, this.#sender.problem()]
    const given = { ...this.#order, feed: this.feed, info: this.#info, saved, problem }
    this.#ended = await finishRun(given, event, outcome)
  }

  #run(): Promise<void> {
    const { server, agent, input, lease, plan, controller, span } = this.#order
    const { limits, clock, newId, log } = server
    const { threadId, runId, parentRunId, tools, context, forwardedProps } = input
    const { messages, state, resume } = plan
    const stopRenewing = keepLease({
      ...{ store: server.store, lease, leaseMs: limits.leaseMs, clock },
      onLost: (error) => controller.abort(error),
      onProblem: (error) => log.warn({ ...lease.key, err: error }, 'a lease could not be renewed'),
    })
    const stopTimer = limitTime(this.#order)
    this.#started = startRun(
      hookedAgent(agent, { server, info: this.#info }),
      { threadId, runId, parentRunId, messages, state, tools, context, forwardedProps, resume },
      {
        controller,
        checkpoints: this,
        identity: lease.key,
        edit: eventEdit(agent, { server, info: this.#info }),
        native: nativeHooks(agent, { server, info: this.#info }),
        toolTimeoutMs: limits.toolTimeoutMs,
        trace: span.context,
        newId,
        clock,
        onProblem: (problem) => log.warn({ ...lease.key, runId, problem }, 'a run was repaired'),
        sink: this,
      },
    )
    return this.#started.result.then((outcome) => {
      stopRenewing()
      stopTimer()
      span.end({ status: outcome.type, ...this.#ended, usage: outcome.usage })
    })
  }
}

/** Also holds for a run that is never silent: it lets timers have their turn. */
function limitTime({ server, controller }: RunOrder): () => void {
  const { clock, limits, hooks } = server
  const { runTimeoutMs, hookTimeoutMs } = limits
  // With a hook the agent is stopped inside the run, so that the hook can say something in its place.
  return clock.schedule(runTimeoutMs + (hooks.runtimeTimeout ? hookTimeoutMs : 0), () => {
    controller.abort(new MillraceError('EXECUTION_TIMEOUT', `The run took longer than ${runTimeoutMs} ms.`))
  })
}
