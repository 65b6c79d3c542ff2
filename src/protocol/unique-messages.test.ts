import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { propertyRuns } from '../../test/support/property-runs.js'
import { talk } from '../../test/support/talk.js'
import { MillraceError } from '../core/errors.js'
import { parseRunInput } from './parse-run-input.js'

const inputOf = (messages: readonly Message[]) => ({
  ...{ threadId: 't', runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} },
  messages,
})

/** Lists with few ids, so that many share one. */
const lists = fc
  .array(
    fc.record({
      word: fc.constantFrom('u1', 'u1*', 'u2', 'a1', 'a1*', 'a2(c1)', 's1', 'd1', 'r1', 't-c1', 't-c1*'),
      id: fc.option(fc.constantFrom('x', 'y', 'c1'), { nil: undefined }),
    }),
    { maxLength: 6 },
  )
  .map((words) => words.flatMap(({ word, id }) => talk(word).map((one) => ({ ...one, id: id ?? one.id }))))

it('an id names one message in every list that is accepted, and nothing of such a list is lost', () => {
  fc.assert(
    fc.property(lists, (messages) => {
      let accepted: readonly Message[]
      try {
        accepted = parseRunInput(inputOf(messages)).input.messages
      } catch (error) {
        // Only two different messages of one id are refused.
        expect(error).toMatchObject({ code: 'INVALID_INPUT' })
        const [, at] =
          /^messages\[(\d+)\]\.id: .*messages\[\d+\]/.exec((error as MillraceError).message) ?? []
        const second = messages[Number(at)]
        const others = messages
          .slice(0, Number(at))
          .filter(({ id, role }) => id === second?.id && role !== 'tool')
        expect(others.map((one) => JSON.stringify(one))).not.toContain(JSON.stringify(second))
        expect(others.length).toBeGreaterThan(0)
        return
      }
      const own = accepted.filter(({ role }) => role !== 'tool').map(({ id }) => id)
      expect(new Set(own).size).toBe(own.length)
      const texts = new Set(accepted.map((one) => JSON.stringify(one)))
      for (const message of messages) expect(texts).toContain(JSON.stringify(message))
    }),
    { numRuns: propertyRuns(300) },
  )
})

it('a message that is there twice counts once, and a warning says so', () => {
  const { input, warnings } = parseRunInput(inputOf(talk('u1 a1 u1 u2')))
  expect(input.messages).toEqual(talk('u1 a1 u2'))
  expect(warnings).toEqual([{ field: 'messages[2]', message: 'repeats messages[0]; left out' }])
})

it('results may have the ids of other messages, as some clients send them', () => {
  const messages = talk('u1 a1(c1,c2)').concat(talk('t-c1 t-c2').map((one) => ({ ...one, id: 'a1' })))
  expect(parseRunInput(inputOf(messages)).input.messages).toEqual(messages)
})
