import type { EventOf } from '../events.js'
import { freeId } from './claims.js'
import { openLaneOf } from './lanes.js'
import { attributed, type Lane, type Run } from './run.js'

/** Steps are unique per owner while they are open: the second `w` is `w#2`. */
export function writeStepStart(run: Run, event: EventOf<'STEP_STARTED'>): void {
  const lane = openLaneOf(run, event.subagentRunId)
  const stepName = freeId(event.stepName, (name) => lane.steps.includes(name), '#')
  lane.steps = [...lane.steps, stepName]
  run.emit(attributed({ ...event, stepName }, lane))
}

export function writeStepEnd(run: Run, event: EventOf<'STEP_FINISHED'>): void {
  const lane = ownerOfStep(run, event)
  const stepName = lane && openName(lane, event.stepName)
  if (!lane || stepName === undefined) {
    run.report(`STEP_FINISHED: step '${event.stepName}' is not open`)
    return
  }
  lane.steps = lane.steps.filter((open) => open !== stepName)
  run.emit(attributed({ ...event, stepName }, lane))
}

/** The tagged lane, or for an untagged end the run's own agent, or else the only subagent that has such a step. */
function ownerOfStep(run: Run, { stepName, subagentRunId: tag }: EventOf<'STEP_FINISHED'>): Lane | undefined {
  if (tag !== undefined) return openLaneOf(run, tag)
  if (openName(run.root, stepName) !== undefined) return run.root
  const others = [...run.openLanes].filter((lane) => openName(lane, stepName) !== undefined)
  return others.length === 1 ? others[0] : undefined
}

/** The exact name if it is open, else the newest `name#n`. */
function openName({ steps }: Lane, name: string): string | undefined {
  if (steps.includes(name)) return name
  return steps.findLast((open) => open.startsWith(`${name}#`) && /^\d+$/.test(open.slice(name.length + 1)))
}
