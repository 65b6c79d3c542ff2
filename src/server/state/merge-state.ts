import { isEqual, isRecord, withoutKeys } from '../../core/json.js'
import type { Thread } from '../../threads/contract.js'
import type { StateRulesHandle } from './state-rules.js'

/** How much of a thread a client knows: all of it, an older part, or nothing. */
export type Knowledge = 'all' | 'some' | 'none'

export interface StateMerge {
  /** The thread with its full state, and with the state that clients last saw if that was another. */
  readonly thread: Pick<Thread, 'state' | 'shown'> | undefined
  /** The client's state. */
  readonly client: unknown
  readonly knows: Knowledge
  readonly rules: StateRulesHandle
}

type State = Readonly<Record<string, unknown>>

/**
 * The full state that a run starts with. A client that knows all may change and delete, one that knows nothing may set,
 * one that is behind may only add; none touches the server's keys. An absent or empty one changes nothing. Shares what
 * did not change, and returns the stored state itself when nothing did.
 */
export function mergeClientState({ thread, client, knows, rules }: StateMerge): unknown {
  const ours = thread?.state ?? {}
  if (isEmptyState(client)) return ours
  const isOurs = rules.isServerKey
  const theirs = withoutKeys(client, isOurs)
  const base = rules.visible(thread?.shown === undefined ? ours : thread.shown)
  if (!isRecord(ours) || !isRecord(theirs)) {
    const isTheirs = knows === 'all' && !isEqual(client, base) && !hasServerKeys(ours, rules)
    return isTheirs ? theirs : ours
  }
  switch (knows) {
    case 'all':
      return mergeRecords({ ours, theirs, base: isRecord(base) ? base : {} }, isOurs)
    case 'none':
      return mergeRecords({ ours, theirs, base: {} }, isOurs)
    case 'some':
      return addMissingKeys(ours, theirs)
  }
}

/** Whether a state says nothing. */
export function isEmptyState(state: unknown): boolean {
  return state === undefined || state === null || (isRecord(state) && Object.keys(state).length === 0)
}

function hasServerKeys(state: unknown, { isServerKey }: StateRulesHandle): boolean {
  return isRecord(state) && Object.keys(state).some(isServerKey)
}

interface StateVersions {
  readonly ours: State
  readonly theirs: State
  /** The state that theirs was made from. */
  readonly base: State
}

/** Applies their changes of `base` to ours. */
function mergeRecords({ ours, theirs, base }: StateVersions, isOurs?: (key: string) => boolean): State {
  const entries: [string, unknown][] = []
  let isChanged = false
  for (const [key, value] of Object.entries(ours)) {
    const next =
      isOurs?.(key) === true ? value : mergeValue(value, memberOf(theirs, key), memberOf(base, key))
    if (next !== value) isChanged = true
    if (next !== undefined) entries.push([key, next])
  }
  for (const [key, value] of Object.entries(theirs)) {
    // A value that they have unchanged and we lack was deleted here.
    if (Object.hasOwn(ours, key) || value === undefined || isEqual(value, memberOf(base, key))) continue
    entries.push([key, value])
    isChanged = true
  }
  return isChanged ? Object.fromEntries(entries) : ours
}

function mergeValue(ours: unknown, theirs: unknown, base: unknown): unknown {
  // Also when both are undefined: they never had it.
  if (isEqual(theirs, base) || isEqual(theirs, ours)) return ours
  if (!isRecord(ours) || !isRecord(theirs)) return theirs
  return mergeRecords({ ours, theirs, base: isRecord(base) ? base : {} })
}

function addMissingKeys(ours: State, theirs: State): State {
  const missing = Object.entries(theirs).filter(([key]) => !Object.hasOwn(ours, key))
  return missing.length === 0 ? ours : Object.fromEntries([...Object.entries(ours), ...missing])
}

function memberOf(state: State, key: string): unknown {
  return Object.hasOwn(state, key) ? state[key] : undefined
}
