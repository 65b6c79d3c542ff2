import type { EventOf } from '../events.js'
import { toJson } from './clean.js'
import { openLaneOf } from './lanes.js'
import { attributed, owner, type Run } from './run.js'

export function writeStateSnapshot(run: Run, event: EventOf<'STATE_SNAPSHOT'>): void {
  run.emit(attributed(event, openLaneOf(run, event.subagentRunId)))
}

/**
 * Sends a delta only when it applies to the state the client holds. Otherwise the two have parted, and a snapshot
 * brings them together: of the agent's state if it can be read, else of what the client should hold.
 */
export function writeStateDelta(run: Run, event: EventOf<'STATE_DELTA'>): void {
  const lane = openLaneOf(run, event.subagentRunId)
  const problem = run.tryEmit(attributed(event, lane))
  if (problem === undefined) return
  run.report(problem)
  const snapshot = run.readState ? toJson(run.readState(), 'readState') : run.fold.state
  run.emit({ type: 'STATE_SNAPSHOT', snapshot, ...owner(lane) })
}
