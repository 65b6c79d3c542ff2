import type { EventOf } from '../contract.js'
import { closeItems, freeId } from './items.js'
import { withLaneTag, newLane, laneTag, type Lane, type RunState } from './run-state.js'

/**
 * The open lane of a tag. A subagent that was never announced, or that writes after it finished, gets a span of its
 * own, so that every tag on the wire belongs to a running subagent.
 */
export function laneOfTag(run: RunState, tag: string | undefined): Lane {
  if (tag === undefined) return run.root
  const lane = run.lanes.get(tag)
  if (lane && !lane.closed) return lane
  const started = { type: 'SUBAGENT_STARTED', subagentRunId: tag, name: lane?.name ?? tag } as const
  return startLane(run, started, lane?.parent)
}

/** The lane of an event that stands alone: the tag's, or its nearest ancestor that still runs. */
export function openLaneOfTag(run: RunState, tag: string | undefined): Lane {
  const lane = tag === undefined ? undefined : run.lanes.get(tag)
  for (let up = lane; up; up = up.parent) if (!up.closed) return up
  return laneOfTag(run, tag)
}

export function writeSubagentStart(run: RunState, event: EventOf<'SUBAGENT_STARTED'>): void {
  const known = run.lanes.get(event.subagentRunId)
  if (known && !known.closed) {
    run.report(`SUBAGENT_STARTED: subagent '${event.subagentRunId}' is already running`)
    return
  }
  const { parentSubagentRunId: parentTag, ...rest } = event
  const parent = parentTag === undefined ? run.root : run.lanes.get(parentTag)
  if (!parent) run.report(`SUBAGENT_STARTED: there is no parent subagent '${String(parentTag)}'`)
  startLane(run, rest, parent)
}

function startLane(run: RunState, event: EventOf<'SUBAGENT_STARTED'>, parent: Lane = run.root): Lane {
  const tag = event.subagentRunId
  // A subagent id names one invocation: a second one under the same tag needs an id of its own.
  const id = freeId(tag, (id) => run.laneIds.has(id), '#')
  run.laneIds.add(id)
  const lane = newLane({ key: run.laneIds.size, tag, id, name: event.name, parent })
  run.lanes.set(tag, lane)
  run.openLanes.add(lane)
  const above = parent.id === undefined ? {} : { parentSubagentRunId: parent.id }
  run.emit({ ...event, ...above, subagentRunId: id })
  return lane
}

export function writeSubagentEnd(
  run: RunState,
  event: EventOf<'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>,
): void {
  const lane = run.lanes.get(event.subagentRunId)
  if (!lane || lane.closed) {
    run.report(`${event.type}: subagent '${event.subagentRunId}' is not running`)
    return
  }
  const suspended =
    event.type === 'SUBAGENT_FINISHED' && event.outcome?.type === 'suspended' ? event.outcome : undefined
  for (const other of [...run.openLanes].reverse()) {
    if (!isLaneWithin(other, lane)) continue
    if (!suspended) endLane(run, other, other === lane ? event : endLike(event))
    // A subagent below that is suspended already has named its interrupts.
    else if (other === lane || !other.interruptIds) suspendLane(run, other, suspended.interruptIds)
  }
}

function suspendLane(run: RunState, lane: Lane, interruptIds: readonly string[] = []): void {
  closeLaneContent(run, lane)
  lane.interruptIds = interruptIds
}

/** How a lane ends. */
export type LaneEnd =
  Omit<EventOf<'SUBAGENT_FINISHED'>, 'subagentRunId'> | Omit<EventOf<'SUBAGENT_ERROR'>, 'subagentRunId'>

/** The end of a subagent that has not ended itself when its parent does. */
function endLike(event: EventOf<'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>): LaneEnd {
  if (event.type === 'SUBAGENT_FINISHED') return { type: 'SUBAGENT_FINISHED' }
  const { message, code } = event
  return { type: 'SUBAGENT_ERROR', message, ...(code === undefined ? {} : { code }) }
}

/** Ends every running subagent and closes every item and step of the run's own lane. */
export function closeLanes(run: RunState, endOf: (lane: Lane) => LaneEnd): void {
  for (const lane of [...run.openLanes].reverse()) endLane(run, lane, endOf(lane))
  closeLaneContent(run, run.root)
}

/** Closes every item and step of the lane, then the lane itself. */
function endLane(run: RunState, lane: Lane, end: LaneEnd): void {
  closeLaneContent(run, lane)
  run.emit({ ...end, ...laneTag(lane), subagentRunId: lane.id ?? '' })
  lane.closed = true
  run.openLanes.delete(lane)
}

/** Closes every item and step of a lane, the newest first. */
function closeLaneContent(run: RunState, lane: Lane): void {
  closeItems(run, lane)
  for (const stepName of [...lane.steps].reverse()) {
    run.emit({ type: 'STEP_FINISHED', stepName, ...laneTag(lane) })
  }
  lane.steps = []
}

export function isLaneWithin(lane: Lane, ancestor: Lane): boolean {
  for (let up: Lane | undefined = lane; up; up = up.parent) if (up === ancestor) return true
  return false
}

/** Starts a step. Steps are unique per lane while they are open: the second `w` is `w#2`. */
export function writeStepStart(run: RunState, event: EventOf<'STEP_STARTED'>): void {
  const lane = openLaneOfTag(run, event.subagentRunId)
  const stepName = freeId(event.stepName, (name) => lane.steps.includes(name), '#')
  lane.steps = [...lane.steps, stepName]
  run.emit(withLaneTag({ ...event, stepName }, lane))
}

export function writeStepEnd(run: RunState, event: EventOf<'STEP_FINISHED'>): void {
  const lane = laneOfStep(run, event)
  const stepName = lane && openStepName(lane, event.stepName)
  if (!lane || stepName === undefined) {
    run.report(`STEP_FINISHED: step '${event.stepName}' is not open`)
    return
  }
  lane.steps = lane.steps.filter((open) => open !== stepName)
  run.emit(withLaneTag({ ...event, stepName }, lane))
}

/** The tagged lane, or for an untagged end the run's own, or else the only subagent that has such a step. */
function laneOfStep(
  run: RunState,
  { stepName, subagentRunId: tag }: EventOf<'STEP_FINISHED'>,
): Lane | undefined {
  if (tag !== undefined) return openLaneOfTag(run, tag)
  if (openStepName(run.root, stepName) !== undefined) return run.root
  const others = [...run.openLanes].filter((lane) => openStepName(lane, stepName) !== undefined)
  return others.length === 1 ? others[0] : undefined
}

/** The exact name if it is open, else the newest `name#n`. */
function openStepName({ steps }: Lane, name: string): string | undefined {
  if (steps.includes(name)) return name
  return steps.findLast((open) => open.startsWith(`${name}#`) && /^\d+$/.test(open.slice(name.length + 1)))
}
