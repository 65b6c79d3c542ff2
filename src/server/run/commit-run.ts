import type { Outcome } from '../../agents/index.js'
import { toWireError } from '../../core/errors.js'
import { isEqual } from '../../core/json.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { RunRecord } from '../../threads/contract.js'
import { createOutputHooks, snapshotEvent } from '../hooks/output-hooks.js'
import type { RunFeed } from '../live/run-feed.js'
import type { StateRulesHandle } from '../state/state-rules.js'
import type { RunSetup } from './live-run.js'
import { runError, threadChange, type SavedCheckpoint } from './thread-change.js'

/** A run whose agent is done. */
interface EndedRun extends RunSetup {
  readonly feed: RunFeed
  readonly saved: SavedCheckpoint | undefined
  /** The error in the event pipe. It has stopped the run, unless the run was at its end. */
  readonly problem: unknown
}

/** How a run has ended, after its last hooks and its commit. */
export type RunEnding = Pick<RunRecord, 'status' | 'error'>

/** Commits what the run has changed, frees the thread, and shows the end: in this order. Never rejects. */
export async function commitRun(run: EndedRun, terminal: AgUiEvent, outcome: Outcome): Promise<RunEnding> {
  const { server, lease, feed, free, record } = run
  const { log, metrics, clock } = server
  const { agent } = lease.key
  const ids = { ...lease.key, runId: record.runId }
  if (outcome.type === 'failed') log.error({ ...ids, err: outcome.error }, 'a run has failed')
  let ending: RunEnding
  let failure: AgUiEvent | undefined
  try {
    ending = await commit(run, terminal, outcome)
  } catch (cause) {
    log.error({ ...ids, err: cause }, 'a run could not be committed')
    metrics.storeFailed()
    const error = toWireError(cause, 'BACKGROUND_EXECUTION_ERROR')
    ending = { status: 'failed', error }
    failure = { type: 'RUN_ERROR', ...error }
  }
  // A client that answers as soon as it sees the end finds the thread free.
  await free()
  const { status } = ending
  const events = feed.nextSeq - record.nextSeq
  metrics.runEnded({ agent, status })
  metrics.runDuration({ agent }, (clock.now() - record.startedAt) / 1000)
  metrics.events({ agent }, events)
  log.info({ ...ids, status, events }, 'run ended')
  feed.close(failure)
  return ending
}

async function commit(run: EndedRun, terminal: AgUiEvent, outcome: Outcome): Promise<RunEnding> {
  const { server, lease, feed, record, thread, plan, saved, info } = run
  const stateRules = server.stateRulesOf(lease.key)
  const { last, snapshot } = await sendLastEvents(run, terminal, outcome)
  const { runId } = record
  const log = { runId, ...(await feed.seal(last)) }
  const { start: _, ...started } = record
  const ended: RunRecord = {
    ...started,
    status: outcome.type,
    endedAt: server.clock.now(),
    nextSeq: feed.nextSeq,
    ...runError(outcome),
    // A hook may have turned the end into RUN_ERROR.
    ...(last.type === 'RUN_ERROR' && { status: 'failed', error: { code: '', ...last } }),
  }
  const clientTools = new Set(info.input.tools.map(({ name }) => name))
  const change = threadChange({
    ...{ thread, outcome, saved, clientTools, stateRules, run: ended },
    pending: plan.pendingToolCalls,
    started: plan.messages,
    kept: plan.change.keep,
  })
  const shown = shownState(snapshot, change.state, stateRules)
  await server.store.threads.commit(lease, { ...change, ...shown, log }, { release: true })
  const { status, error } = ended
  return { status, ...(error && { error }) }
}

/** The state that clients hold, when a hook has shown them another: what they send back is compared with that. */
function shownState(
  snapshot: AgUiEvent | undefined,
  state: unknown,
  stateRules: StateRulesHandle,
): { shown?: unknown } {
  if (snapshot?.type !== 'STATE_SNAPSHOT' || isEqual(snapshot.snapshot, stateRules.visible(state))) return {}
  return { shown: snapshot.snapshot }
}

interface LastEvents {
  /** The terminal event, after the hooks. */
  readonly last: AgUiEvent
  /** The state as it was sent. */
  readonly snapshot?: AgUiEvent
}

/** Sends the final state and returns the terminal event: RUN_ERROR when a hook has failed. */
async function sendLastEvents(run: EndedRun, terminal: AgUiEvent, outcome: Outcome): Promise<LastEvents> {
  const { server, feed, info, problem } = run
  const { log } = server
  const outputHooks = createOutputHooks(server, info) ?? ((event) => event)
  const report = (error: unknown): void =>
    log.error({ ...info.key, runId: info.runId, err: error }, 'a run has failed at its end')
  // The run has failed already: a hook that fails too changes nothing.
  const toFailure = async (event: AgUiEvent): Promise<AgUiEvent> => {
    try {
      return await outputHooks(event)
    } catch (error) {
      report(error)
      return event
    }
  }
  if (terminal.type === 'RUN_ERROR') return { last: await toFailure(terminal) }
  try {
    if (problem !== undefined) throw problem as Error
    const state = await snapshotEvent(server, server.stateRulesOf(info.key).visible(outcome.state), info)
    if (!state) return { last: await outputHooks(terminal) }
    const snapshot = await outputHooks(state)
    await feed.push(snapshot)
    return { last: await outputHooks(terminal), snapshot }
  } catch (error) {
    report(error)
    return { last: await toFailure({ type: 'RUN_ERROR', ...toWireError(error, 'HOOK_ERROR') }) }
  }
}
