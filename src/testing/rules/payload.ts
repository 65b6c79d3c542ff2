import { defineRule, type Rule } from './rule.js'
import { omitOptionalNulls } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'

/** An event carries something and keeps to its own fields. */
export const payloadRules: readonly Rule[] = [
  defineRule(
    'empty-delta',
    ['TEXT_MESSAGE_CONTENT', 'REASONING_MESSAGE_CONTENT', 'TOOL_CALL_ARGS'],
    function* (event, { sent }) {
      // Expanding a chunk can make an empty content event that nobody sent.
      const isSent = sent.type === event.type
      if (isSent && event.delta === '' && event.metadata === undefined && event.rawEvent === undefined) {
        yield `${event.type} has an empty delta and nothing else`
      }
    },
  ),
  {
    name: 'reserved-metadata',
    *check({ event, sent }) {
      if (sent.type !== event.type) return
      if (event.metadata && 'ag-ui' in event.metadata) yield `${event.type} has metadata under 'ag-ui'`
    },
  },
]

type SentPayload = Record<string, unknown>

/**
 * Removes the nulls that stand for an absent field, and returns their paths. Some of them would make a client warn and
 * others fail, so the other rules get the event without them.
 */
export function withoutNulls(sent: SentPayload): { event: SentPayload; paths: readonly string[] } {
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
