import type { JsonPatchOperation } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { AgUiEvent, EventOf } from '../../protocol/index.js'
import { topKeyOf } from './pointer.js'
import type { StateRulesHandle } from './state-rules.js'

type Visibility = Pick<StateRulesHandle, 'isPrivate' | 'visible'>

/** What to make of one operation: this one in its place, none, or no telling. */
type View = JsonPatchOperation | 'hidden' | 'doubtful'

/**
 * The part of a delta that a client may see. Where leaving operations out would not bring the client to the visible part
 * of `state`, it is a snapshot of that part.
 */
export function showDelta(
  event: EventOf<'STATE_DELTA'>,
  state: unknown,
  rules: Visibility,
): AgUiEvent | undefined {
  const shown: JsonPatchOperation[] = []
  let isChanged = false
  let hasHidden = false
  let hasRoot = false
  for (const operation of event.delta) {
    const view = viewOf(operation, rules)
    if (view === 'doubtful') return snapshotInstead(event, rules.visible(state))
    hasRoot ||= operation.path === ''
    if (view === 'hidden') hasHidden = true
    else {
      shown.push(view)
      isChanged ||= view !== operation
      hasHidden ||= view.op !== operation.op
    }
  }
  if (!hasHidden) return isChanged ? changedEvent({ ...event, delta: shown }) : event
  // Only objects have keys to hide, and the root may have been something else in between.
  if (hasRoot || !isRecord(state)) return snapshotInstead(event, rules.visible(state))
  return shown.length === 0 ? undefined : changedEvent({ ...event, delta: shown })
}

function viewOf(operation: JsonPatchOperation, { isPrivate, visible }: Visibility): View {
  const key = topKeyOf(operation.path)
  if (operation.op === 'move' || operation.op === 'copy') {
    const source = topKeyOf(operation.from)
    // The root as a source has private keys in it, and as a target it gets keys that nobody has looked at.
    if (key === undefined || source === undefined) return 'doubtful'
    if (isPrivate(source)) return isPrivate(key) ? 'hidden' : 'doubtful'
    if (!isPrivate(key)) return operation
    return operation.op === 'move' ? { op: 'remove', path: operation.from } : 'hidden'
  }
  if (key !== undefined) return isPrivate(key) ? 'hidden' : operation
  if (operation.op === 'remove') return operation
  const value = visible(operation.value)
  return value === operation.value ? operation : { ...operation, value }
}

function snapshotInstead(
  { type: _type, delta: _delta, ...rest }: EventOf<'STATE_DELTA'>,
  snapshot: unknown,
): AgUiEvent {
  return changedEvent({ ...rest, type: 'STATE_SNAPSHOT', snapshot })
}

/** What the event was made from would show again what was hidden. */
export function changedEvent({ rawEvent: _raw, ...event }: AgUiEvent): AgUiEvent {
  return event
}
