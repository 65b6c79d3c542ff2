import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyStream, history } from '../../../test/support/arbitrary-events.js'
import { onlyValid, reduceWithClient } from '../../../test/support/client-reducer.js'
import type { AgUiEvent } from '../contract.js'
import { toolErrorMark } from '../messages.js'
import { createFold } from './fold.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const isChunk = ({ type }: AgUiEvent) => type.endsWith('_CHUNK')

/** A stream of the client's liking, without chunks, which the fold does not take. */
const validStream = anyStream.map((events) => onlyValid(events.filter((event) => !isChunk(event))))

describe('the fold', () => {
  it('holds what the client reducer holds after any valid stream', async () => {
    await fc.assert(
      fc.asyncProperty(history, validStream, async (messages, events) => {
        const state = { a: { b: 1 }, list: [1, 2] }
        const fold = createFold({ messages, state })
        for (const event of events) fold.apply(event)
        const { messages: held, state: heldState } = await reduceWithClient(events, { messages, state })
        expect(fold.messages).toEqual(held)
        expect(fold.state).toEqual(heldState)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('never changes the history and the state it was given, nor an event', () => {
    fc.assert(
      fc.property(history, validStream, (messages, events) => {
        const state = { a: { b: 1 }, list: [1, 2] }
        const before = structuredClone({ messages, state, events })
        const fold = createFold({ messages, state })
        for (const event of events) fold.apply(event)
        expect({ messages, state, events }).toEqual(before)
      }),
    )
  })

  it('replaces the type of an encrypted value with the value', () => {
    const fold = createFold({ messages: [{ id: 'm', role: 'reasoning', content: '' }] })
    const value = { type: 'REASONING_ENCRYPTED_VALUE', subtype: 'message', entityId: 'm' } as const
    fold.apply({ ...value, encryptedValue: 'a', encryptedValueType: 'acme.a' })
    expect(fold.messages[0]).toMatchObject({ encryptedValue: 'a', encryptedValueType: 'acme.a' })
    fold.apply({ ...value, encryptedValue: 'b' })
    expect(fold.messages[0]).toEqual({ id: 'm', role: 'reasoning', content: '', encryptedValue: 'b' })
  })

  it('gives the message of a failed tool its error', () => {
    const toolCalls = [{ id: 'c', type: 'function' as const, function: { name: 'x', arguments: '{}' } }]
    for (const [content, error] of [
      ['no power', 'no power'],
      ['{"error":"no power"}', 'no power'],
      ['', 'A tool failed.'],
    ] as const) {
      const fold = createFold({ messages: [{ id: 'a', role: 'assistant', toolCalls }] })
      const result = { type: 'TOOL_CALL_RESULT', messageId: 't', toolCallId: 'c' } as const
      fold.apply({ ...result, content, metadata: toolErrorMark })
      expect(fold.messages[1]).toMatchObject({ content, error })
    }
  })
})
