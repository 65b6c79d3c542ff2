import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyStream, history } from '../../../test/support/arbitrary-events.js'
import { onlyValid } from '../../../test/support/client-reducer.js'
import type { AgUiEvent } from '../contract.js'
import { compactRun } from './compact.js'
import { createFold } from './fold.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

/** Streams that the client takes without a warning, as every run stream is. */
const validStream = anyStream.map((events) => {
  const fold = createFold()
  const isTaken = (event: AgUiEvent) => !event.type.endsWith('_CHUNK') && fold.apply(event) === undefined
  return onlyValid(onlyValid(events).filter(isTaken))
})

function foldOf(events: readonly AgUiEvent[], messages: Parameters<typeof createFold>[0] = {}) {
  const fold = createFold(messages)
  for (const event of events) fold.apply(event)
  return { messages: fold.messages, state: fold.state }
}

describe('compaction', () => {
  it('replays to the same messages and state', () => {
    fc.assert(
      fc.property(history, validStream, (messages, events) => {
        expect(foldOf(compactRun(events), { messages })).toEqual(foldOf(events, { messages }))
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('gives a stream the client accepts, also when the run ended in an error', () => {
    fc.assert(
      fc.property(validStream, (events) => {
        const compact = compactRun(events)
        expect(onlyValid(compact)).toEqual(compact)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('is stable: compacting twice changes nothing', () => {
    fc.assert(
      fc.property(validStream, (events) => {
        const once = compactRun(events)
        expect(compactRun(once)).toEqual(once)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('does not change the events it is given', () => {
    fc.assert(
      fc.property(validStream, (events) => {
        const before = structuredClone(events)
        compactRun(events)
        expect(events).toEqual(before)
      }),
    )
  })

  it('leaves one delta per message and tool call and one state event', () => {
    const events: AgUiEvent[] = [
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hel' },
      { type: 'STATE_SNAPSHOT', snapshot: { n: 0 } },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'lo' },
      { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value: 1 }] },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'm' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a"' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: ':1}' },
      { type: 'RUN_ERROR', message: 'broke' },
    ]
    expect(compactRun(events)).toEqual([
      { type: 'RUN_STARTED', threadId: 't', runId: 'r' },
      { type: 'TEXT_MESSAGE_START', messageId: 'm' },
      { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'Hello' },
      { type: 'TEXT_MESSAGE_END', messageId: 'm' },
      { type: 'TOOL_CALL_START', toolCallId: 'c', toolCallName: 'f', parentMessageId: 'm' },
      { type: 'TOOL_CALL_ARGS', toolCallId: 'c', delta: '{"a":1}' },
      { type: 'STATE_SNAPSHOT', snapshot: { n: 1 } },
      { type: 'RUN_ERROR', message: 'broke' },
    ])
  })
})
