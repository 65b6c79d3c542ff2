import type { JsonPatchOperation } from '@ag-ui/core'
import { isRecord, withoutKeys } from '../../core/json.js'
import { isRunStateKey, isThreadStateKey, type AgUiEvent, type EventOf } from '../../protocol/index.js'
import type { Agent } from '../../agents/index.js'
import type { ThreadKey } from '../../threads/contract.js'
import type { StateRules } from '../contract.js'
import { topKeyOf } from '../../core/json-patch.js'

/** Decides which top-level keys of the state clients may see and change. No method changes its arguments. */
export interface StateRulesHandle {
  /** The state as clients see it. The same object when there is nothing to hide. */
  readonly visible: (state: unknown) => unknown
  /** The rest of the state: what clients do not see. */
  readonly privatePart: (state: unknown) => Readonly<Record<string, unknown>>
  /** The state as it is stored, without the keys of one run. */
  readonly stored: (state: unknown) => unknown
  /** Whether clients cannot change this key: it is private or read-only. */
  readonly isServerKey: (key: string) => boolean
  /** Whether clients cannot even see this key. */
  readonly isPrivate: (key: string) => boolean
  /**
   * An event as clients may see it. `state` is the full state after the event. Undefined when nothing is left of it; the
   * same object when it shows nothing private.
   */
  readonly visibleEvent: (event: AgUiEvent, state: unknown) => AgUiEvent | undefined
}

export function createStateRules({ readOnly = [], private: hidden = [] }: StateRules = {}): StateRulesHandle {
  const hiddenKeys = new Set(hidden)
  const readOnlyKeys = new Set(readOnly)
  const isPrivate = (key: string): boolean => hiddenKeys.has(key) || !isThreadStateKey(key)
  const visible = (state: unknown): unknown => withoutKeys(state, isPrivate)

  return {
    visible,
    privatePart: (state) =>
      isRecord(state) ? Object.fromEntries(Object.entries(state).filter(([key]) => isPrivate(key))) : {},
    stored: (state) => withoutKeys(state, isRunStateKey),
    isPrivate,
    isServerKey: (key) => readOnlyKeys.has(key) || isPrivate(key),
    visibleEvent(event, state) {
      switch (event.type) {
        case 'STATE_SNAPSHOT': {
          const snapshot = visible(event.snapshot)
          return snapshot === event.snapshot ? event : withoutRawEvent({ ...event, snapshot })
        }
        case 'STATE_DELTA':
          return visibleDelta(event, state, { isPrivate, visible })
        default:
          return event
      }
    },
  }
}

/** The rules of each agent's threads: those of the server, and the private keys of the agent. */
export function createStateRulesOf(
  rules: StateRules = {},
  agents: ReadonlyMap<string, Pick<Agent, 'privateKeys'>> = new Map(),
): (key: Pick<ThreadKey, 'agent'>) => StateRulesHandle {
  const ofServer = createStateRules(rules)
  const ofAgents = new Map(
    [...agents].map(([name, { privateKeys = [] }]) => [
      name,
      createStateRules({ ...rules, private: [...(rules.private ?? []), ...privateKeys] }),
    ]),
  )
  return ({ agent }) => ofAgents.get(agent) ?? ofServer
}

type Visibility = Pick<StateRulesHandle, 'isPrivate' | 'visible'>

/** An operation as clients may see it. `doubtful`: needs a snapshot instead. */
type VisibleOperation = JsonPatchOperation | 'hidden' | 'doubtful'

/**
 * The visible part of a delta. A snapshot of the visible state instead, where leaving operations out would bring the
 * client to another state.
 */
function visibleDelta(
  event: EventOf<'STATE_DELTA'>,
  state: unknown,
  rules: Visibility,
): AgUiEvent | undefined {
  const shown: JsonPatchOperation[] = []
  let isChanged = false
  let hasHidden = false
  let hasRoot = false
  for (const operation of event.delta) {
    const view = visibleOperation(operation, rules)
    if (view === 'doubtful') return toSnapshot(event, rules.visible(state))
    hasRoot ||= operation.path === ''
    if (view === 'hidden') hasHidden = true
    else {
      shown.push(view)
      isChanged ||= view !== operation
      hasHidden ||= view.op !== operation.op
    }
  }
  if (!hasHidden) return isChanged ? withoutRawEvent({ ...event, delta: shown }) : event
  // Only objects have keys to hide, and the root may have been something else in between.
  if (hasRoot || !isRecord(state)) return toSnapshot(event, rules.visible(state))
  return shown.length === 0 ? undefined : withoutRawEvent({ ...event, delta: shown })
}

function visibleOperation(
  operation: JsonPatchOperation,
  { isPrivate, visible }: Visibility,
): VisibleOperation {
  const key = topKeyOf(operation.path)
  if (operation.op === 'move' || operation.op === 'copy') {
    const source = topKeyOf(operation.from)
    // The root as a source has private keys, and as a target it gets keys that were not checked.
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

function toSnapshot(
  { type: _type, delta: _delta, ...rest }: EventOf<'STATE_DELTA'>,
  snapshot: unknown,
): AgUiEvent {
  return withoutRawEvent({ ...rest, type: 'STATE_SNAPSHOT', snapshot })
}

/** The native event behind it would show what was hidden. */
function withoutRawEvent({ rawEvent: _raw, ...event }: AgUiEvent): AgUiEvent {
  return event
}
