import type { Message } from '@ag-ui/core'
import { isRecord } from '../core/json.js'

/** The new value, with the parts of the old one that are equal: what has not changed keeps its identity. */
export function share<T>(before: unknown, after: T): T
export function share(before: unknown, after: unknown): unknown {
  if (before === after) return before
  if (Array.isArray(before) && Array.isArray(after)) {
    const shared = after.map((entry: unknown, index) => share(before[index], entry))
    const isSame = shared.length === before.length && shared.every((entry, index) => entry === before[index])
    return isSame ? (before as unknown) : shared
  }
  if (!isRecord(before) || !isRecord(after)) return after
  const keys = Object.keys(after)
  const shared = Object.fromEntries(keys.map((key) => [key, share(before[key], after[key])]))
  const isSame =
    keys.length === Object.keys(before).length &&
    keys.every((key) => Object.hasOwn(before, key) && shared[key] === before[key])
  return isSame ? before : shared
}

/** The new messages, with the old objects of those that have not changed. */
export function shareMessages(before: readonly Message[], after: readonly Message[]): readonly Message[] {
  const known = new Map(before.map((message) => [message.id, message]))
  const shared = after.map((message) => share(known.get(message.id), message))
  const isSame =
    shared.length === before.length && shared.every((message, index) => message === before[index])
  return isSame ? before : shared
}
