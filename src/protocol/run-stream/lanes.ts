import type { EventOf } from '../events.js'
import { freeId } from './claims.js'
import { closeAll } from './items.js'
import { owner, type Lane, type Run } from './run.js'

export function createLane({
  key,
  tag,
  id,
  name,
  parent,
}: Pick<Lane, 'key' | 'tag' | 'id' | 'name' | 'parent'>): Lane {
  return { key, tag, id, name, parent, open: new Set(), steps: [], closed: false }
}

/**
 * The open lane of a tag. A subagent that was never announced, or that writes after it finished, gets a span of its
 * own, so that every tag on the wire belongs to an open subagent.
 */
export function laneOf(run: Run, tag: string | undefined): Lane {
  if (tag === undefined) return run.root
  const lane = run.lanes.get(tag)
  if (lane && !lane.closed) return lane
  return startLane(
    run,
    { type: 'SUBAGENT_STARTED', subagentRunId: tag, name: lane?.name ?? tag },
    lane?.parent,
  )
}

/** Where an event that stands alone belongs: its lane, or the nearest ancestor still running. */
export function openLaneOf(run: Run, tag: string | undefined): Lane {
  const lane = tag === undefined ? undefined : run.lanes.get(tag)
  for (let up = lane; up; up = up.parent) if (!up.closed) return up
  return laneOf(run, tag)
}

export function writeSubagentStart(run: Run, event: EventOf<'SUBAGENT_STARTED'>): void {
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

function startLane(run: Run, event: EventOf<'SUBAGENT_STARTED'>, parent: Lane = run.root): Lane {
  const tag = event.subagentRunId
  // A subagent id names one invocation: a second one under the same tag needs an id of its own.
  const id = freeId(tag, (id) => run.laneIds.has(id), '#')
  run.laneIds.add(id)
  const lane = createLane({ key: run.laneIds.size, tag, id, name: event.name, parent })
  run.lanes.set(tag, lane)
  run.openLanes.add(lane)
  const above = parent.id === undefined ? {} : { parentSubagentRunId: parent.id }
  run.emit({ ...event, ...above, subagentRunId: id })
  return lane
}

export function writeSubagentEnd(run: Run, event: EventOf<'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>): void {
  const lane = run.lanes.get(event.subagentRunId)
  if (!lane || lane.closed) {
    run.report(`${event.type}: subagent '${event.subagentRunId}' is not running`)
    return
  }
  const suspended =
    event.type === 'SUBAGENT_FINISHED' && event.outcome?.type === 'suspended' ? event.outcome : undefined
  for (const other of [...run.openLanes].reverse()) {
    if (!isWithin(other, lane)) continue
    if (suspended) {
      // One below it that waits already has said for what.
      if (other === lane || !other.waitsFor) suspendLane(run, other, suspended.interruptIds)
    } else endLane(run, other, other === lane ? event : endingLike(event))
  }
}

function suspendLane(run: Run, lane: Lane, interruptIds: readonly string[] = []): void {
  closeAll(run, lane)
  lane.waitsFor = interruptIds
}

/** How a subagent ends when its parent, or the run, ends first. */
export type LaneEnding =
  Omit<EventOf<'SUBAGENT_FINISHED'>, 'subagentRunId'> | Omit<EventOf<'SUBAGENT_ERROR'>, 'subagentRunId'>

/** Closes all that is open in the lane and then the lane itself. */
export function endLane(run: Run, lane: Lane, ending: LaneEnding): void {
  closeAll(run, lane)
  run.emit({ ...ending, ...owner(lane), subagentRunId: lane.id ?? '' })
  lane.closed = true
  run.openLanes.delete(lane)
}

export function isWithin(lane: Lane, ancestor: Lane): boolean {
  for (let up: Lane | undefined = lane; up; up = up.parent) if (up === ancestor) return true
  return false
}

/** The end of a subagent that never said so itself, after that of its parent. */
function endingLike(event: EventOf<'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>): LaneEnding {
  if (event.type === 'SUBAGENT_FINISHED') return { type: 'SUBAGENT_FINISHED' }
  const { message, code } = event
  return { type: 'SUBAGENT_ERROR', message, ...(code === undefined ? {} : { code }) }
}
