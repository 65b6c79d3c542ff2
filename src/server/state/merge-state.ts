import { isEqual } from '../../core/is-equal.js'
import { isRecord } from '../../core/is-record.js'
import type { Thread } from '../../threads/contract.js'
import { without, type StateRulesHandle } from './state-rules.js'

/** How much of a thread a client has seen: all of it, an older part, or nothing. */
export type Knowledge = 'all' | 'some' | 'none'

export interface StateMerge {
  /** The full state of the thread. */
  readonly stored: unknown
  /** What the client last saw. Default: the visible part of `stored`. */
  readonly seen?: unknown
  /** What the client sends. */
  readonly client: unknown
  readonly knows: Knowledge
  readonly rules: StateRulesHandle
}

/** What a client that followed the last run holds, when the state was changed since. */
export function seenOf(thread: Thread | undefined, rules: StateRulesHandle): { seen?: unknown } {
  return thread?.shown === undefined ? {} : { seen: rules.visible(thread.shown) }
}

type State = Readonly<Record<string, unknown>>

/**
 * The full state that a run starts with. One who knows all may change and delete, one who knows nothing may set, one
 * who is behind may only add; nobody touches the server's keys. An absent or empty state says nothing. Shares what did
 * not change, and is `stored` itself when nothing did.
 */
export function mergeState({ stored, seen, client, knows, rules }: StateMerge): unknown {
  const ours = stored ?? {}
  if (isNothing(client)) return ours
  const theirs = without(client, rules.isServerKey)
  const base = seen === undefined ? rules.visible(ours) : seen
  if (!isRecord(ours) || !isRecord(theirs)) {
    const isTheirs = knows === 'all' && !isEqual(client, base) && !hasServerKeys(ours, rules)
    return isTheirs ? theirs : ours
  }
  const isOurs = rules.isServerKey
  switch (knows) {
    case 'all':
      return merged({ ours, theirs, base: isRecord(base) ? base : {} }, isOurs)
    case 'none':
      return merged({ ours, theirs, base: {} }, isOurs)
    case 'some':
      return withMissing(ours, theirs)
  }
}

function isNothing(state: unknown): boolean {
  return state === undefined || state === null || (isRecord(state) && Object.keys(state).length === 0)
}

function hasServerKeys(state: unknown, { isServerKey }: StateRulesHandle): boolean {
  return isRecord(state) && Object.keys(state).some(isServerKey)
}

interface Versions {
  readonly ours: State
  readonly theirs: State
  /** What theirs was made from. */
  readonly base: State
}

/** Their changes of `base`, made to ours. */
function merged({ ours, theirs, base }: Versions, isOurs?: (key: string) => boolean): State {
  const entries: [string, unknown][] = []
  let isChanged = false
  for (const [key, value] of Object.entries(ours)) {
    const next =
      isOurs?.(key) === true ? value : mergedValue(value, memberOf(theirs, key), memberOf(base, key))
    if (next !== value) isChanged = true
    if (next !== undefined) entries.push([key, next])
  }
  for (const [key, value] of Object.entries(theirs)) {
    // What they have as it was and we have no more was deleted here.
    if (Object.hasOwn(ours, key) || value === undefined || isEqual(value, memberOf(base, key))) continue
    entries.push([key, value])
    isChanged = true
  }
  return isChanged ? Object.fromEntries(entries) : ours
}

function mergedValue(ours: unknown, theirs: unknown, base: unknown): unknown {
  // Also when both are undefined: they never had it.
  if (isEqual(theirs, base) || isEqual(theirs, ours)) return ours
  if (!isRecord(ours) || !isRecord(theirs)) return theirs
  return merged({ ours, theirs, base: isRecord(base) ? base : {} })
}

function withMissing(ours: State, theirs: State): State {
  const missing = Object.entries(theirs).filter(([key]) => !Object.hasOwn(ours, key))
  return missing.length === 0 ? ours : Object.fromEntries([...Object.entries(ours), ...missing])
}

function memberOf(state: State, key: string): unknown {
  return Object.hasOwn(state, key) ? state[key] : undefined
}
