import { mergeMetadata } from '@ag-ui/core'
import type { AgUiEvent, EventOf } from '../events.js'
import { applyPatch } from './patch.js'

/**
 * The strict events of finished runs with all in-between steps taken out: one delta per message and tool call, one
 * state event per run, one snapshot per activity. A client that replays it holds the same messages and state, and the
 * stream is as valid as the one that went in, also for a run that ended in an error. Compacting twice changes nothing.
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
  /** The joined deltas of what is open. Written when it closes, or when nothing may be half said. */
  readonly #deltas = new Map<string, DeltaEvent>()
  #state: StateEvent | undefined
  /** Where the snapshot of each activity stands in `out`. */
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
        this.#state = this.#state ? joinState(this.#state, event) : ownState(event)
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

  /** Writes what is held back. */
  flush(): void {
    this.#writeDeltas()
    if (this.#state) this.out.push(this.#state)
    this.#state = undefined
    this.#activities.clear()
  }

  #addDelta(event: DeltaEvent): void {
    const key = `${event.type} ${event.type === 'TOOL_CALL_ARGS' ? event.toolCallId : event.messageId}`
    const held = this.#deltas.get(key)
    this.#deltas.set(key, held ? joinDeltas(held, event) : event)
  }

  #writeDelta(key: string): void {
    const held = this.#deltas.get(key)
    if (held) this.out.push(held)
    this.#deltas.delete(key)
  }

  #writeDeltas(): void {
    for (const key of [...this.#deltas.keys()]) this.#writeDelta(key)
  }

  #addActivity(event: ActivityEvent): void {
    const at = this.#activities.get(event.messageId)
    const held = at === undefined ? undefined : this.out[at]
    if (at !== undefined && held?.type === 'ACTIVITY_SNAPSHOT') {
      this.out[at] = joinActivity(held, event)
      return
    }
    // A snapshot that does not replace may find the activity of an earlier run: what it will hold is not known here.
    if (event.type === 'ACTIVITY_SNAPSHOT' && event.replace !== false) {
      this.#activities.set(event.messageId, this.out.length)
    }
    this.out.push(event)
  }
}

function joinDeltas(held: DeltaEvent, next: DeltaEvent): DeltaEvent {
  const joined = { ...held, delta: held.delta + next.delta, ...metadataOf(held, next) }
  // One provider's payload does not describe the joined text.
  delete joined.rawEvent
  return joined
}

function ownState(event: StateEvent): StateEvent {
  return event.type === 'STATE_DELTA' ? { ...event, delta: [...event.delta] } : event
}

/** Joins into `held`, which is ours. A delta that does not apply changes nothing, as in a client. */
function joinState(held: StateEvent, next: StateEvent): StateEvent {
  if (next.type === 'STATE_SNAPSHOT') return next
  if (held.type === 'STATE_DELTA') {
    held.delta.push(...next.delta)
    return held
  }
  const patched = applyPatch(held.snapshot, next.delta)
  return patched.ok ? { type: 'STATE_SNAPSHOT', snapshot: patched.document } : held
}

function joinActivity(held: EventOf<'ACTIVITY_SNAPSHOT'>, next: ActivityEvent): EventOf<'ACTIVITY_SNAPSHOT'> {
  const metadata = metadataOf(held, next)
  if (next.type === 'ACTIVITY_SNAPSHOT') {
    return next.replace === false ? { ...held, ...metadata } : { ...next, ...metadata }
  }
  const patched = applyPatch(held.content, next.patch)
  if (!patched.ok) return { ...held, ...metadata }
  const content = patched.document as EventOf<'ACTIVITY_SNAPSHOT'>['content']
  return { ...held, activityType: next.activityType, content, ...metadata }
}

function metadataOf(held: AgUiEvent, next: AgUiEvent): Pick<AgUiEvent, 'metadata'> {
  const metadata = mergeMetadata(held.metadata, next.metadata)
  return metadata === undefined ? {} : { metadata }
}
