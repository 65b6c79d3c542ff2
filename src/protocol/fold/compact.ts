import { mergeMetadata } from '@ag-ui/core'
import type { AgUiEvent, EventOf } from '../contract.js'
import { applyPatch } from './patch.js'

/**
 * Compacts the strict events of finished runs: one delta per message and tool call, one state event per run, one snapshot
 * per activity. A client that replays them holds the same messages and state, and the stream is as valid as before, also
 * for a run that ended in an error. Compacting twice changes nothing.
 */
export function compactRun(events: readonly AgUiEvent[]): AgUiEvent[] {
  const compaction = new Compaction()
  for (const event of events) compaction.add(event)
  compaction.flush()
  return compaction.out
}

type DeltaEvent = EventOf<'TEXT_MESSAGE_CONTENT' | 'REASONING_MESSAGE_CONTENT' | 'TOOL_CALL_ARGS'>
type StateEvent = EventOf<'STATE_SNAPSHOT' | 'STATE_DELTA'>
type ActivityEvent = EventOf<'ACTIVITY_SNAPSHOT' | 'ACTIVITY_DELTA'>

class Compaction {
  readonly out: AgUiEvent[] = []
  /** The joined deltas of each open item. Written when it closes, or before a snapshot of all messages. */
  readonly #deltas = new Map<string, DeltaEvent>()
  #state: StateEvent | undefined
  /** The index in `out` of each activity's snapshot. */
  readonly #activities = new Map<string, number>()

  add(event: AgUiEvent): void {
    switch (event.type) {
      case 'TEXT_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CONTENT':
      case 'TOOL_CALL_ARGS':
        this.#addDelta(event)
        return
      case 'STATE_SNAPSHOT':
      case 'STATE_DELTA':
        this.#state = this.#state ? joinState(this.#state, event) : copyState(event)
        return
      case 'ACTIVITY_SNAPSHOT':
      case 'ACTIVITY_DELTA':
        this.#addActivity(event)
        return
      case 'TEXT_MESSAGE_END':
        this.#writeDelta(`TEXT_MESSAGE_CONTENT ${event.messageId}`)
        break
      case 'REASONING_MESSAGE_END':
        this.#writeDelta(`REASONING_MESSAGE_CONTENT ${event.messageId}`)
        break
      case 'TOOL_CALL_END':
        this.#writeDelta(`TOOL_CALL_ARGS ${event.toolCallId}`)
        break
      case 'MESSAGES_SNAPSHOT':
        this.#writeDeltas()
        this.#activities.clear()
        break
      case 'RUN_STARTED':
      case 'RUN_FINISHED':
      case 'RUN_ERROR':
        this.flush()
        break
      default:
    }
    this.out.push(event)
  }

  /** Writes the joined deltas. */
  flush(): void {
    this.#writeDeltas()
    if (this.#state) this.out.push(this.#state)
    this.#state = undefined
    this.#activities.clear()
  }

  #addDelta(event: DeltaEvent): void {
    const key = `${event.type} ${event.type === 'TOOL_CALL_ARGS' ? event.toolCallId : event.messageId}`
    const before = this.#deltas.get(key)
    this.#deltas.set(key, before ? joinDeltas(before, event) : event)
  }

  #writeDelta(key: string): void {
    const delta = this.#deltas.get(key)
    if (delta) this.out.push(delta)
    this.#deltas.delete(key)
  }

  #writeDeltas(): void {
    for (const key of [...this.#deltas.keys()]) this.#writeDelta(key)
  }

  #addActivity(event: ActivityEvent): void {
    const at = this.#activities.get(event.messageId)
    const before = at === undefined ? undefined : this.out[at]
    if (at !== undefined && before?.type === 'ACTIVITY_SNAPSHOT') {
      this.out[at] = joinActivity(before, event)
      return
    }
    // A snapshot that does not replace may meet the activity of an earlier run, whose content is not known here.
    if (event.type === 'ACTIVITY_SNAPSHOT' && event.replace !== false) {
      this.#activities.set(event.messageId, this.out.length)
    }
    this.out.push(event)
  }
}

function joinDeltas(before: DeltaEvent, next: DeltaEvent): DeltaEvent {
  const event = { ...before, delta: before.delta + next.delta, ...joinMetadata(before, next) }
  // One provider's payload does not describe the joined text.
  delete event.rawEvent
  return event
}

function copyState(event: StateEvent): StateEvent {
  return event.type === 'STATE_DELTA' ? { ...event, delta: [...event.delta] } : event
}

/** Joins into `before`, which is our own. A delta that does not apply changes nothing, as in a client. */
function joinState(before: StateEvent, next: StateEvent): StateEvent {
  if (next.type === 'STATE_SNAPSHOT') return next
  if (before.type === 'STATE_DELTA') {
    before.delta.push(...next.delta)
    return before
  }
  const patched = applyPatch(before.snapshot, next.delta)
  return patched.ok ? { type: 'STATE_SNAPSHOT', snapshot: patched.document } : before
}

function joinActivity(
  before: EventOf<'ACTIVITY_SNAPSHOT'>,
  next: ActivityEvent,
): EventOf<'ACTIVITY_SNAPSHOT'> {
  const metadata = joinMetadata(before, next)
  if (next.type === 'ACTIVITY_SNAPSHOT') {
    return next.replace === false ? { ...before, ...metadata } : { ...next, ...metadata }
  }
  const patched = applyPatch(before.content, next.patch)
  if (!patched.ok) return { ...before, ...metadata }
  const content = patched.document as EventOf<'ACTIVITY_SNAPSHOT'>['content']
  return { ...before, activityType: next.activityType, content, ...metadata }
}

function joinMetadata(before: AgUiEvent, next: AgUiEvent): Pick<AgUiEvent, 'metadata'> {
  const metadata = mergeMetadata(before.metadata, next.metadata)
  return metadata === undefined ? {} : { metadata }
}
