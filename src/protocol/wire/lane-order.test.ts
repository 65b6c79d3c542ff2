import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentEvent } from '../../../test/support/arbitrary-events.js'
import { propertyRuns } from '../../../test/support/property-runs.js'
import { lintEvents } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent } from '../contract.js'
import { createFold } from '../fold/fold.js'
import { createRunStream } from '../run-stream/run-stream.js'
import { isOfItem, LaneOrder } from './lane-order.js'

function oneByOne(events: readonly AgUiEvent[], maxSize = Infinity): AgUiEvent[] {
  const order = new LaneOrder<AgUiEvent>({ maxSize, sizeOf: () => 1 })
  const out: AgUiEvent[] = []
  for (const event of events) order.take(event, event, out)
  return out
}

/** Text in short: `a+` opens a text in lane a, `a` is a delta, `a-` closes it; anything else is a CUSTOM event. */
function story(text: string): AgUiEvent[] {
  return text.split(' ').map((word): AgUiEvent => {
    const [, lane = '', what] = /^([a-c])([+-]?)$/.exec(word) ?? []
    if (lane === '') return { type: 'CUSTOM', name: word, value: 1 }
    const fields = { messageId: `m-${lane}`, ...(lane === 'a' ? {} : { subagentRunId: lane }) }
    if (what === '+') return { type: 'TEXT_MESSAGE_START', role: 'assistant', ...fields }
    return what === '-'
      ? { type: 'TEXT_MESSAGE_END', ...fields }
      : { type: 'TEXT_MESSAGE_CONTENT', delta: 'x', ...fields }
  })
}

function tell(events: readonly AgUiEvent[]): string {
  const words = events.map((event) => {
    if (event.type === 'CUSTOM') return event.name
    const lane = 'messageId' in event ? event.messageId.slice(2) : ''
    return `${lane}${event.type.endsWith('START') ? '+' : event.type.endsWith('END') ? '-' : ''}`
  })
  return words.join(' ')
}

describe('lanes one by one', () => {
  it.each([
    ['one lane is as it was', 'a+ a note a a- note a+ a-', 'a+ a note a a- note a+ a-'],
    ['a lane waits for the one that is open', 'a+ b+ a b a- b b-', 'a+ a a- b+ b b b-'],
    ['a lane that has ended while it waited leaves whole', 'a+ b+ b b- a a- b+ b-', 'a+ a a- b+ b b- b+ b-'],
    ['the third waits for the second', 'a+ b+ c+ c c- a- b b-', 'a+ a- b+ b b- c+ c c-'],
    ['what is not of an item stays behind what came before', 'a+ b+ note b- a a-', 'a+ a a- b+ b- note'],
    ['it leaves at once when nothing waits', 'a+ note a a-', 'a+ note a a-'],
    ['a stream that begins in the middle', 'a b+ b a- b-', 'a a- b+ b b-'],
  ])('%s', (_, given, expected) => {
    expect(tell(oneByOne(story(given)))).toBe(expected)
  })

  it('mix, complete and in their order, when too much waits, until no item is open', () => {
    const given = 'a+ b+ b b c+ a a- b b- c c- a+ b+ b a- b-'
    expect(tell(oneByOne(story(given), 3))).toBe('a+ b+ b b c+ a a- b b- c c- a+ a- b+ b b-')
  })

  it('end with the run, whatever was open', () => {
    const end: AgUiEvent = { type: 'RUN_ERROR', message: 'lost' }
    const events = [...story('a+ b+ b'), end, ...story('b+ a+ b-')]
    expect(oneByOne(events)).toEqual([...story('a+ b+ b'), end, ...story('b+ b- a+')])
  })
})

const strictStream = fc.array(agentEvent, { maxLength: 40 }).map((events: readonly AgentEvent[]) => {
  const out: AgUiEvent[] = []
  let ids = 0
  const stream = createRunStream({
    ...{
      threadId: 't',
      runId: 'r',
      emit: (event: AgUiEvent) => out.push(event),
      newId: () => `new ${++ids}`,
    },
  })
  for (const event of events) stream.write(event)
  stream.finish({ type: 'success' })
  return out
})

const openIn = (events: readonly AgUiEvent[]): number => {
  const lanes = new Map<string | undefined, number>()
  let most = 0
  for (const event of events) {
    if (!isOfItem(event.type)) continue
    const { subagentRunId: lane } = event as { readonly subagentRunId?: string }
    const change = event.type.endsWith('_START') ? 1 : event.type.endsWith('_END') ? -1 : 0
    lanes.set(lane, (lanes.get(lane) ?? 0) + change)
    most = Math.max(most, [...lanes.values()].filter((open) => open > 0).length)
  }
  return most
}

describe('any run, with its lanes one by one', () => {
  it('has one lane with open items at a time, and every event once', () => {
    fc.assert(
      fc.property(strictStream, (events) => {
        const ordered = oneByOne(events)
        expect(openIn(ordered)).toBeLessThan(2)
        expect(new Set(ordered)).toEqual(new Set(events))
        expect(ordered).toHaveLength(events.length)
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it.each([Infinity, 3, 0])(
    'is as valid as before, and leaves the same, with %d at most waiting',
    (maxSize) => {
      fc.assert(
        fc.property(strictStream, (events) => {
          const ordered = oneByOne(events, maxSize)
          // What a lane opens while it has other items open comes before what other lanes have opened meanwhile.
          const rules = (all: readonly AgUiEvent[]) =>
            lintEvents(all).flatMap(({ rule }) => (rule === 'pending-tool-calls' ? [] : [rule]))
          expect(rules(ordered)).toEqual(rules(events))
          const [before, after] = [createFold(), createFold()]
          for (const event of events) before.apply(event)
          for (const event of ordered) after.apply(event)
          expect(after.state).toEqual(before.state)
          const byId = (messages: readonly Message[]) =>
            new Map(messages.map((message) => [message.id, message]))
          expect(byId(after.messages)).toEqual(byId(before.messages))
        }),
        { numRuns: propertyRuns(300) },
      )
    },
  )
})
