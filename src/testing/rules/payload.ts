import { defineRule, type Rule } from './rule.js'

/** An event has something to say and keeps to its own fields. */
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
