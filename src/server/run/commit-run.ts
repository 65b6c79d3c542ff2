import type { Outcome } from '../../agents/index.js'
import { toWireError } from '../../core/errors.js'
import { isEqual } from '../../core/is-equal.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { RunRecord } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks/hooks.js'
import type { Feed } from '../live/feed.js'
import type { RunOrder } from './run-agent.js'
import { hookedState } from '../hooks/state-hook.js'
import { createOutgoing } from '../hooks/output-hooks.js'
import { runError, threadChange, type SavedCheckpoint } from './thread-change.js'

export interface Finishing extends RunOrder {
  readonly feed: Feed
  readonly info: RunInfo
  readonly saved: SavedCheckpoint | undefined
  /** What went wrong on the way out and has stopped the run, unless it was at its end. */
  readonly problem: unknown
}

/** What became of a run, with all that a hook or the store had to do with it. */
export type RunEnding = Pick<RunRecord, 'status' | 'error'>

/** Commits what the run has changed, frees the thread, and shows the end: in this order. Never rejects. */
export async function finishRun(given: Finishing, terminal: AgUiEvent, outcome: Outcome): Promise<RunEnding> {
  const { server, lease, feed, free, record } = given
  const { log, metrics, clock } = server
  const facts = { ...lease.key, runId: record.runId }
  if (outcome.type === 'failed') log.error({ ...facts, err: outcome.error }, 'a run has failed')
  let ending: RunEnding
  let failure: AgUiEvent | undefined
  try {
    ending = await commit(given, terminal, outcome)
  } catch (cause) {
    log.error({ ...facts, err: cause }, 'a run could not be committed')
    metrics.storeFailed()
    const error = toWireError(cause, 'BACKGROUND_EXECUTION_ERROR')
    ending = { status: 'failed', error }
    failure = { type: 'RUN_ERROR', ...error }
  }
  const { status } = ending
  // Before the end is seen, so that a client that answers at once finds the thread free.
  await free()
  const { agent } = lease.key
  metrics.runEnded({ agent, status })
  metrics.runDuration({ agent }, (clock.now() - record.startedAt) / 1000)
  metrics.events({ agent }, feed.nextSeq() - record.nextSeq)
  log.info({ ...facts, status, events: feed.nextSeq() - record.nextSeq }, 'run ended')
  feed.close(failure)
  return ending
}

async function commit(given: Finishing, terminal: AgUiEvent, outcome: Outcome): Promise<RunEnding> {
  const { server, lease, feed, record, thread, saved, input } = given
  const { last, shown } = await lastEvents(given, terminal, outcome)
  const log = await feed.seal(last)
  const { start: _, ...started } = record
  const run: RunRecord = {
    ...started,
    status: outcome.type,
    endedAt: server.clock.now(),
    nextSeq: feed.nextSeq(),
    ...runError(outcome),
    // A hook has made a failure of it.
    ...(last.type === 'RUN_ERROR' ? { status: 'failed', error: { code: '', ...last } } : {}),
  }
  const clientTools = new Set(input.tools.map(({ name }) => name))
  const change = threadChange({ thread, outcome, saved, clientTools, run, stateRules: server.stateRules })
  const ended = { ...change, ...seenState(shown, change.state, server), log: { runId: record.runId, ...log } }
  await server.store.threads.commit(lease, ended, { release: true })
  const { status, error } = run
  return { status, ...(error && { error }) }
}

interface LastEvents {
  readonly last: AgUiEvent
  /** The state as it was shown, if it was. */
  readonly shown?: AgUiEvent
}

/** What clients hold of the state when a hook has shown them another: what they send back is compared with that. */
function seenState(
  shown: AgUiEvent | undefined,
  state: unknown,
  { stateRules }: ServerContext,
): { shown?: unknown } {
  if (shown?.type !== 'STATE_SNAPSHOT' || isEqual(shown.snapshot, stateRules.visible(state))) return {}
  return { shown: shown.snapshot }
}

/** Shows the state, and gives the last event as the hooks leave it: RUN_ERROR when one has failed. */
async function lastEvents(given: Finishing, terminal: AgUiEvent, outcome: Outcome): Promise<LastEvents> {
  const { server, feed, info, problem } = given
  const outgoing = createOutgoing(server, info) ?? ((event: AgUiEvent) => event)
  const report = (error: unknown): void =>
    server.log.error({ ...info.key, runId: info.runId, err: error }, 'a run has failed at its end')
  // It has failed already: a hook that fails too changes nothing.
  const sayFailed = async (event: AgUiEvent): Promise<AgUiEvent> => {
    try {
      return await outgoing(event)
    } catch (error) {
      report(error)
      return event
    }
  }
  if (terminal.type === 'RUN_ERROR') return { last: await sayFailed(terminal) }
  try {
    if (problem !== undefined) throw problem as Error
    const snapshot = await finalState(given, outcome)
    if (snapshot === undefined) return { last: await outgoing(terminal) }
    const shown = await outgoing({ type: 'STATE_SNAPSHOT', snapshot })
    await feed.push(shown)
    return { last: await outgoing(terminal), shown }
  } catch (error) {
    report(error)
    return { last: await sayFailed({ type: 'RUN_ERROR', ...toWireError(error, 'HOOK_ERROR') }) }
  }
}

function finalState({ server, info }: Finishing, outcome: Outcome): unknown {
  return hookedState(server, server.stateRules.visible(outcome.state), info)
}
