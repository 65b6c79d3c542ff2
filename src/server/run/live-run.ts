import {
  startCheckedRun,
  type Agent,
  type CheckpointStore,
  type Outcome,
  type StartedRun,
} from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import type { Lease, RunRecord, Thread, ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import { withTimeoutHook } from '../hooks/agent-hooks.js'
import type { RunInfo } from '../hooks/hooks.js'
import { Abandonment } from '../live/abandonment.js'
import type { LiveRun, RunEnd } from '../live/registry.js'
import type { RunFeed, SubscriberWatcher } from '../live/run-feed.js'
import { auditedAnswers } from '../observe/audit.js'
import type { RunSpan } from '../observe/tracing.js'
import type { AgentPlan } from '../plan/run-plan.js'
import type { RunEnding } from './commit-run.js'
import { EventPipe } from './event-pipe.js'
import { LeaseRenewal } from './lease.js'
import { titleFor, type SavedCheckpoint } from './thread-change.js'

/** All that a run needs. */
export interface RunSetup {
  readonly server: ServerContext
  readonly agent: Agent
  readonly info: RunInfo
  readonly lease: Lease
  readonly thread: Thread | undefined
  readonly plan: AgentPlan
  readonly controller: AbortController
  readonly record: RunRecord
  readonly span: RunSpan
  /** Whether it is stopped when nobody follows it for some time. */
  readonly needsSubscriber: boolean
  /** Frees the thread. Called once, when all is committed and before subscribers see the end. Never rejects. */
  readonly free: () => Promise<void>
}

/** Runs an agent on a leased thread: its events go through the pipe, then one commit ends it. */
export function startLiveRun(setup: RunSetup): LiveRun {
  return new AgentRun(setup)
}

function toRunEnd(outcome: Outcome, ending: RunEnding | undefined): RunEnd {
  const { usage } = outcome
  const { status = outcome.type, error } = ending ?? {}
  const isPending = outcome.type === 'completed' && outcome.pendingToolCalls.length > 0
  const shown =
    status === 'running' || status === 'completed' ? (isPending ? 'waiting-for-tools' : 'completed') : status
  return { status: shown, usage, ...(error && { error }) }
}

// One object for all that a live run needs of the server, not a closure for each.
class AgentRun implements LiveRun, CheckpointStore, SubscriberWatcher {
  readonly key: ThreadKey
  readonly runId: string
  readonly feed: RunFeed
  readonly firstSeq: number
  readonly startedAt: number
  readonly isFirst: boolean
  readonly start: LiveRun['start']
  readonly done: Promise<void>
  saved: SavedCheckpoint | undefined
  end: RunEnd | undefined
  readonly #setup: RunSetup
  readonly #renewal: LeaseRenewal
  #abandonment: Abandonment | undefined
  readonly #started: StartedRun

  constructor(setup: RunSetup) {
    const { server, lease, plan, record } = setup
    this.#setup = setup
    this.key = lease.key
    this.runId = record.runId
    this.firstSeq = record.nextSeq
    this.startedAt = record.startedAt
    this.isFirst = setup.thread === undefined && server.keepsThreads
    this.start = { messages: plan.messages, state: server.stateRulesOf(lease.key).visible(plan.state) }
    const pipe = new EventPipe(setup, this)
    this.feed = pipe.feed
    this.#renewal = this.#renewLease()
    this.#started = this.#startAgent(pipe)
    this.done = this.#started.result.then((outcome) => {
      this.#renewal.stop()
      this.#abandonment?.end()
      this.end = toRunEnd(outcome, pipe.ending)
      setup.span.end({ status: outcome.type, ...pipe.ending, usage: outcome.usage })
      if (outcome.type === 'failed') this.#auditMisfit(outcome.error)
    })
  }

  get needsSubscriber(): boolean {
    return this.#setup.needsSubscriber
  }

  get title(): string {
    const { thread, plan } = this.#setup
    return thread?.title === undefined || thread.title === '' ? titleFor(plan.messages) : thread.title
  }

  get isAbandoned(): boolean {
    return this.#abandonment !== undefined
  }

  followedChanged(isFollowed: boolean): void {
    if (!this.needsSubscriber) return
    this.#abandonment?.end()
    this.#abandonment = isFollowed ? undefined : new Abandonment(this.#setup.server, this)
  }

  stop(reason?: Error): void {
    this.#setup.controller.abort(reason)
  }

  stopAfterTools(timeoutMs: number): void {
    this.#started.cancel({ at: 'tools', timeoutMs })
  }

  load(): Promise<unknown> {
    return Promise.resolve(this.#setup.thread?.checkpoint)
  }

  /** Keeps the checkpoint for the commit of the run. */
  save(_: string, checkpoint: SavedCheckpoint): Promise<void> {
    this.saved = checkpoint
    return Promise.resolve()
  }

  /** The agent alone knows the schemas of its answers, so answers that began this run may be refused by it. */
  #auditMisfit(error: unknown): void {
    const { server, plan } = this.#setup
    if (plan.resume.length === 0 || !MillraceError.isInstance(error) || error.code !== 'INVALID_RESUME')
      return
    const answers = auditedAnswers(plan.resume)
    server.audit.record({ action: 'resume', ...this.key, runId: this.runId, answers }, error)
  }

  #renewLease(): LeaseRenewal {
    const { server, lease, controller } = this.#setup
    const { store, limits, clock, log } = server
    return new LeaseRenewal({
      ...{ store, lease, leaseMs: limits.leaseMs, clock },
      onLost: (error) => controller.abort(error),
      onProblem: (error) => log.warn({ ...lease.key, err: error }, 'a lease could not be renewed'),
    })
  }

  #startAgent(pipe: EventPipe): StartedRun {
    const { server, agent, info, lease, plan, controller, span } = this.#setup
    const { limits, clock, newId, log } = server
    const { threadId, runId, parentRunId, tools, context } = info.input
    const forwardedProps: unknown = info.input.forwardedProps
    // Messages, state and answers are those of the plan.
    const { messages, state, resume } = plan
    return startCheckedRun(
      withTimeoutHook(agent, this.#setup),
      { threadId, runId, parentRunId, messages, state, tools, context, forwardedProps, resume },
      {
        controller,
        checkpoints: this,
        identity: { app: lease.key.app, user: lease.key.user, claims: info.claims },
        native: pipe.native,
        onModelRequest: server.board?.of(info)?.observeModel,
        edit: pipe.edit,
        sink: pipe,
        runTimeoutMs: limits.runTimeoutMs,
        toolTimeoutMs: limits.toolTimeoutMs,
        toolResultBytes: limits.toolResultBytes,
        sizes: limits,
        assertActive: () => this.#renewal.assertValid(),
        isPrivateKey: server.stateRulesOf(lease.key).isPrivate,
        trace: span.context,
        newId,
        clock,
        onProblem: (problem, error) =>
          log.warn(
            { ...lease.key, runId, problem, ...(error === undefined ? {} : { err: error }) },
            'a run was repaired',
          ),
      },
    )
  }
}
