import { omitOptionalNulls } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'

type Sent = Record<string, unknown>

/**
 * The event without the nulls that stand for an absent field, and where those were. Some of them would make a client
 * warn and others fail, so the other rules look at the event without them.
 */
export function withoutNulls(sent: Sent): { event: Sent; paths: readonly string[] } {
  const event = omitOptionalNulls(sent, 'Event')
  return { event, paths: [...lostPaths(sent, event, '')] }
}

function* lostPaths(before: unknown, after: unknown, path: string): Iterable<string> {
  if (before === after) return
  if (Array.isArray(before) && Array.isArray(after)) {
    for (const [at, item] of before.entries()) yield* lostPaths(item, after[at], `${path}/${at}`)
  } else if (isRecord(before) && isRecord(after)) {
    for (const [key, value] of Object.entries(before)) {
      if (key in after) yield* lostPaths(value, after[key], `${path}/${key}`)
      else yield `${path}/${key}`
    }
  }
}
