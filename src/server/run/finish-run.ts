import type { Outcome } from '../../agents/index.js'
import { toWireError } from '../../core/errors.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { RunRecord } from '../../threads/thread.js'
import type { RunInfo } from '../hooks.js'
import type { Feed } from '../live/feed.js'
import { callHook } from './call-hook.js'
import type { RunOrder } from './conduct-run.js'
import { createOutgoing } from './outgoing.js'
import { runError, threadChange, type SavedCheckpoint } from './thread-change.js'

export interface Finishing extends RunOrder {
  readonly feed: Feed
  readonly info: RunInfo
  readonly saved: SavedCheckpoint | undefined
}

/** Commits what the run has changed, frees the thread, and shows the end: in this order. Never rejects. */
export async function finishRun(given: Finishing, terminal: AgUiEvent, outcome: Outcome): Promise<void> {
  const { server, lease, feed, free, record } = given
  const { log, metrics, clock } = server
  const facts = { ...lease.key, runId: record.runId }
  if (outcome.type === 'failed') log.error({ ...facts, err: outcome.error }, 'a run has failed')
  let status: RunRecord['status']
  let failure: AgUiEvent | undefined
  try {
    status = await commit(given, terminal, outcome)
  } catch (error) {
    log.error({ ...facts, err: error }, 'a run could not be committed')
    metrics.storeFailed()
    status = 'failed'
    failure = { type: 'RUN_ERROR', ...toWireError(error, 'BACKGROUND_EXECUTION_ERROR') }
  }
  // Before the end is seen, so that a client that answers at once finds the thread free.
  await free()
  const { agent } = lease.key
  metrics.runEnded({ agent, status })
  metrics.runDuration({ agent }, (clock.now() - record.startedAt) / 1000)
  metrics.events({ agent }, feed.nextSeq - record.nextSeq)
  log.info({ ...facts, status, events: feed.nextSeq - record.nextSeq }, 'run ended')
  feed.close(failure)
}

async function commit(given: Finishing, terminal: AgUiEvent, outcome: Outcome): Promise<RunRecord['status']> {
  const { server, lease, feed, record, thread, saved, input } = given
  const last = await lastEvent(given, terminal, outcome)
  const log = await feed.seal(last)
  const { start: _, ...started } = record
  const run: RunRecord = {
    ...started,
    status: outcome.type,
    endedAt: server.clock.now(),
    nextSeq: feed.nextSeq,
    ...runError(outcome),
    // A hook has made a failure of it.
    ...(last.type === 'RUN_ERROR' ? { status: 'failed', error: { code: '', ...last } } : {}),
  }
  const clientTools = new Set(input.tools.map(({ name }) => name))
  const change = threadChange({ thread, outcome, saved, clientTools, run, stateRules: server.stateRules })
  await server.store.threads.commit(lease, { ...change, log: { runId: record.runId, ...log } })
  return run.status
}

/** Shows the state, and gives the last event as the hooks leave it. */
async function lastEvent(
  { server, feed, info }: Finishing,
  terminal: AgUiEvent,
  outcome: Outcome,
): Promise<AgUiEvent> {
  const { hooks, stateRules } = server
  const outgoing = createOutgoing(hooks, info) ?? ((event: AgUiEvent) => Promise.resolve(event))
  // It has failed already: a hook that fails too changes nothing.
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
