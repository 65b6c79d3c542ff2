import { isRecord } from '../../core/is-record.js'
import { isRunStateKey, isThreadStateKey, type AgUiEvent } from '../../protocol/index.js'
import type { StateRules } from '../contract.js'
import { changedEvent, showDelta } from './show-delta.js'

/** Which part of a thread's state is whose. Only top-level keys have owners. Nothing here changes what it is given. */
export interface StateRulesHandle {
  /** The state as clients see it. The same object when there is nothing to hide. */
  readonly visible: (state: unknown) => unknown
  /** Whether clients cannot change this key: it is private or read-only. */
  readonly isServerKey: (key: string) => boolean
  /** Whether clients cannot even see this key. */
  readonly isPrivate: (key: string) => boolean
  /** The state as it is kept: what is only for one run is left out. */
  readonly stored: (state: unknown) => unknown
  /**
   * What a client may see of an event on its way out. `state` is the full state after the event. Undefined when nothing
   * is left of it; the same object when it shows nothing private.
   */
  readonly showEvent: (event: AgUiEvent, state: unknown) => AgUiEvent | undefined
}

export function createStateRules({ readOnly = [], private: hidden = [] }: StateRules = {}): StateRulesHandle {
  const hiddenKeys = new Set(hidden)
  const readOnlyKeys = new Set(readOnly)
  const isPrivate = (key: string): boolean => hiddenKeys.has(key) || !isThreadStateKey(key)
  const visible = (state: unknown): unknown => without(state, isPrivate)

  return {
    visible,
    isPrivate,
    isServerKey: (key) => readOnlyKeys.has(key) || isPrivate(key),
    stored: (state) => without(state, isRunStateKey),
    showEvent(event, state) {
      switch (event.type) {
        case 'STATE_SNAPSHOT': {
          const snapshot = visible(event.snapshot)
          return snapshot === event.snapshot ? event : changedEvent({ ...event, snapshot })
        }
        case 'STATE_DELTA':
          return showDelta(event, state, { isPrivate, visible })
        default:
          return event
      }
    },
  }
}

/** A state without some of its top-level keys. */
export function without(state: unknown, isLeftOut: (key: string) => boolean): unknown {
  if (!isRecord(state) || !Object.keys(state).some(isLeftOut)) return state
  return Object.fromEntries(Object.entries(state).filter(([key]) => !isLeftOut(key)))
}
