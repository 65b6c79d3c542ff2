import type { EventEdit, NativeHooks, Outcome, RunSink } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { isEqual, isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import { createFold, eventProblem, type AgUiEvent, type EventOf, type Fold } from '../../protocol/index.js'
import type { LogEntry } from '../../threads/contract.js'
import { agentEventHooks, nativeEventHooks } from '../hooks/agent-hooks.js'
import { isPromise } from '../hooks/call-hook.js'
import { createOutputHooks, notWritable, snapshotEvent, type OutputHooks } from '../hooks/output-hooks.js'
import { RunFeed, type FeedBatch, type FeedLog, type SubscriberWatcher } from '../live/run-feed.js'
import { commitRun, type RunEnding } from './commit-run.js'
import type { RunSetup } from './live-run.js'
import type { SavedCheckpoint } from './thread-change.js'

/** A promise when the run has to wait before it continues. */
type Sent = Promise<void> | undefined

/** What the pipe needs of its run: the checkpoint to commit, and whom to tell of subscribers. */
interface RunOfPipe extends SubscriberWatcher {
  readonly saved: SavedCheckpoint | undefined
}

/**
 * The way of an event from its agent to the subscribers. The stages stand below in their order:
 *
 * 1. `native`: hooks on the native events of a runtime, called by its bridge
 * 2. `edit`: hooks on the events of the agent
 * 3. the run stream makes them strict; the agents room writes to it and calls `send`
 * 4. `send` leaves private state out, and puts a snapshot before the first delta
 * 5. the hooks `outputRecord` and `outputChange`
 * 6. the feed numbers the event and shows it to the subscribers
 * 7. `append` writes batches of the feed to the run log
 * 8. `end` commits the thread, releases its lease, and shows the terminal event
 */
export class EventPipe implements RunSink, FeedLog {
  // One object, and no closures: a run that waits for its model keeps all of this in memory.
  readonly native: NativeHooks | undefined
  readonly edit: EventEdit | undefined
  readonly feed: RunFeed
  /** Set by `end`. */
  ending: RunEnding | undefined
  readonly #setup: RunSetup
  readonly #run: RunOfPipe
  readonly #outputHooks: OutputHooks | undefined
  /** The full state. Undefined while the run has not changed it. */
  #state: Fold | undefined
  /** The private part of the state in the record of the run. Set once the run has changed its state. */
  #recordedPrivate: Readonly<Record<string, unknown>> | undefined
  /** Whether a delta would be the first that clients hear of the state in this run. */
  #lacksSnapshot: boolean
  /** Why the pipe has stopped the run. A run at its end does not notice the stop by itself. */
  #problem: unknown

  constructor(setup: RunSetup, run: RunOfPipe) {
    const { server, agent, info, record } = setup
    this.#setup = setup
    this.#run = run
    this.native = nativeEventHooks(agent, setup)
    this.edit = agentEventHooks(agent, setup)
    this.#outputHooks = createOutputHooks(server, info)
    // Runtimes that keep runs, such as CopilotKit's, apply the deltas of a run to the snapshots of that run alone.
    this.#lacksSnapshot = !setup.plan.catchUp.some(({ type }) => type === 'STATE_SNAPSHOT')
    this.feed = new RunFeed({
      runId: record.runId,
      firstSeq: record.nextSeq,
      log: this,
      flusher: server.flusher,
      bufferBytes: server.limits.bufferBytes,
      watcher: run,
      ...(server.stream.logFirst === undefined ? {} : { logFirst: server.stream.logFirst }),
    })
  }

  /** Takes the events of the run stream. Never throws: a hook that fails stops the run, and its event leaves as it was. */
  send(event: AgUiEvent): Sent {
    if (event.type === 'STATE_SNAPSHOT' || event.type === 'STATE_DELTA') {
      const visible = this.#hidePrivateState(event)
      if (!visible || !this.#lacksSnapshot) return visible && this.#output(visible)
      this.#lacksSnapshot = false
      return visible.type === 'STATE_DELTA' ? this.#outputFirstDelta(visible) : this.#output(visible)
    }
    const { catchUp } = this.#setup.plan
    if (event.type === 'RUN_STARTED' && catchUp.length > 0) return this.#outputAll([event, ...catchUp])
    return this.#output(event)
  }

  #hidePrivateState(event: AgUiEvent): AgUiEvent | undefined {
    const { server, lease, plan } = this.#setup
    this.#state ??= createFold({ state: plan.state })
    this.#state.apply(event)
    return server.stateRulesOf(lease.key).visibleEvent(event, this.#state.state)
  }

  /** A snapshot of the state as it was, then the delta. Without the delta when a hook fails: it would be the first. */
  async #outputFirstDelta(delta: EventOf<'STATE_DELTA'>): Promise<void> {
    const { server, lease, plan, info } = this.#setup
    try {
      const visible = server.stateRulesOf(lease.key).visible(plan.state)
      const snapshot = await snapshotEvent(server, visible, info)
      if (snapshot) await this.#output(snapshot)
    } catch (error) {
      this.#stop(error)
      return
    }
    await this.#output(delta)
  }

  async #outputAll(events: readonly AgUiEvent[]): Promise<void> {
    for (const event of events) await this.#output(event)
  }

  #output(event: AgUiEvent): Sent {
    if (!this.#outputHooks) return this.#push(event)
    let changed: ReturnType<OutputHooks>
    try {
      changed = this.#outputHooks(event)
    } catch (error) {
      return this.#fail(event, error)
    }
    if (!isPromise(changed)) return this.#pushChanged(event, changed)
    return changed.then(
      (later) => this.#pushChanged(event, later),
      (error: unknown) => this.#fail(event, error),
    )
  }

  #pushChanged(event: AgUiEvent, changed: AgUiEvent): Sent {
    try {
      return this.#push(changed)
    } catch (cause) {
      this.#setup.server.metrics.hookFailed({ hook: 'outputRecord' })
      return this.#fail(event, notWritable(event, cause))
    }
  }

  /** Stops the run. The event leaves unchanged, unless a hook has spoilt it. */
  #fail(event: AgUiEvent, error: unknown): Sent {
    this.#stop(error)
    try {
      const own = toJson(event, event.type) as AgUiEvent
      return eventProblem(own) === undefined ? this.#push(own) : undefined
    } catch {
      return undefined
    }
  }

  #push(event: AgUiEvent): Sent {
    if (!this.#isLoggedFirst(event)) return this.feed.push(event)
    return this.feed.pushSafely(event).catch((error: unknown) => this.#stop(logWriteError(error)))
  }

  /**
   * Whether the log must have the event before anybody sees it, and before the run continues: the end of a call, whose
   * tool begins then, here or in the client, and its result. Neither must be executed again when the process dies.
   */
  #isLoggedFirst({ type }: AgUiEvent): boolean {
    return type === 'TOOL_CALL_END' || type === 'TOOL_CALL_RESULT'
  }

  #stop(error: unknown): void {
    this.#problem ??= error
    this.#setup.controller.abort(error)
  }

  /** Writes to the run log, after the private state that belongs to these events. */
  append({ firstSeq, lines }: FeedBatch): Promise<void> {
    const { server, lease, record } = this.#setup
    const batch = { runId: record.runId, firstSeq, lines }
    const recording = this.#recordPrivateState()
    return recording
      ? recording.then(() => server.store.log.append(lease, batch))
      : server.store.log.append(lease, batch)
  }

  read(after: number, limit: number): Promise<readonly LogEntry[]> {
    const { server, lease, record } = this.#setup
    return server.store.log.read(lease.key, { runId: record.runId, after }, limit)
  }

  /**
   * The log has only what clients may see. The record of the run has the private state, and must not be older than the
   * log: recovery needs both.
   */
  #recordPrivateState(): Promise<void> | undefined {
    const { server, lease, record, plan } = this.#setup
    const { store } = server
    const stateRules = server.stateRulesOf(lease.key)
    const state: unknown = this.#state?.state
    if (state === undefined || !record.start) return undefined
    const current = stateRules.privatePart(stateRules.stored(state))
    this.#recordedPrivate ??= stateRules.privatePart(stateRules.stored(plan.state))
    if (isEqual(current, this.#recordedPrivate)) return undefined
    // A copy: the store may freeze it while the run continues.
    const copy = structuredClone(current)
    // The visible part stays as it was at the start: the log has its changes.
    const visible = stateRules.visible(plan.state)
    const start = { ...record.start, state: { ...(isRecord(visible) ? visible : {}), ...copy } }
    return store.threads.begin(lease, { ...record, start }).then(() => {
      this.#recordedPrivate = copy
    })
  }

  async end(terminal: AgUiEvent, outcome: Outcome): Promise<void> {
    this.ending = await commitRun(
      {
        ...this.#setup,
        feed: this.feed,
        saved: this.#run.saved,
        problem: this.#problem,
      },
      terminal,
      outcome,
    )
  }
}

function logWriteError(cause: unknown): MillraceError {
  if (MillraceError.isInstance(cause)) return cause
  return new MillraceError('STORE_ERROR', 'The log of the run cannot be written.', { cause })
}
