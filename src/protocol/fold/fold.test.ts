import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyStream, history } from '../../../test/support/arbitrary-events.js'
import { onlyValid, reduceWithClient } from '../../../test/support/client-reducer.js'
import type { AgUiEvent } from '../contract.js'
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
})
