import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentEvent, history } from '../../../test/support/arbitrary-events.js'
import { reduceWithClient } from '../../../test/support/client-reducer.js'
import { lintEvents, type Violation } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent, RunEnd } from '../contract.js'
import { createRunStream, resumeRunStream } from './run-stream.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const state = { a: { b: 1 }, list: [1, 2] }

/** Sloppy in what no type can forbid: nulls, unknown members, broken times, empty deltas, types of another version. */
const looseEvent: fc.Arbitrary<AgentEvent> = fc.oneof(
  { weight: 8, arbitrary: agentEvent },
  {
    weight: 2,
    arbitrary: fc
      .tuple(
        agentEvent,
        fc.constantFrom(
          { metadata: null },
          { timestamp: 1.5 },
          { timestamp: NaN },
          { made: 'up' },
          { rawEvent: null },
        ),
      )
      .map(([event, sloppy]) => ({ ...event, ...sloppy }) as AgentEvent),
  },
  {
    weight: 1,
    arbitrary: agentEvent.map((event) =>
      'delta' in event && typeof event.delta === 'string' ? ({ ...event, delta: '' } as AgentEvent) : event,
    ),
  },
  { weight: 1, arbitrary: fc.constant({ type: 'OF_ANOTHER_VERSION' } as unknown as AgentEvent) },
)

const end: fc.Arbitrary<RunEnd | 'error'> = fc.constantFrom<RunEnd | 'error'>(
  { type: 'success' },
  { type: 'success', result: { ok: true }, usage: [{ model: 'm', inputTokens: 1, outputTokens: NaN }] },
  {
    type: 'interrupt',
    interrupts: [
      { id: 'i1', reason: 'confirmation' },
      { id: 'i2', reason: 'x', subagentRunId: 's1' },
    ],
  },
  { type: 'cancelled' },
  'error',
)

function record(
  events: readonly AgentEvent[],
  how: RunEnd | 'error',
  messages: Parameters<typeof createRunStream>[0]['messages'] = [],
) {
  const out: AgUiEvent[] = []
  let ids = 0
  const stream = createRunStream({
    threadId: 't',
    runId: 'r',
    messages,
    state,
    emit: (event) => out.push(event),
    newId: () => `new ${++ids}`,
  })
  for (const event of events) stream.write(event)
  if (how === 'error') stream.fail(new Error('secret'))
  else stream.finish(how)
  return { out, stream }
}

/** The run stream does not judge what an agent's own snapshot leaves out or changes. */
function violations(out: readonly AgUiEvent[], messages: Message[]): Violation[] {
  const input = { threadId: 't', runId: 'r', protocolVersion: '1.0', messages, state, tools: [], context: [] }
  const isTheAgents = ({ rule, index = -1 }: Violation) =>
    out[index]?.type === 'MESSAGES_SNAPSHOT' && (rule === 'snapshot-ids' || rule === 'message-id-reuse')
  return lintEvents(out, { input }).filter((violation) => !isTheAgents(violation))
}

describe('the run stream, given any interleaving of loose events', () => {
  it('emits a stream no rule of the protocol objects to, ended at any point in any way', async () => {
    await fc.assert(
      fc.asyncProperty(
        history,
        fc.array(looseEvent, { maxLength: 40 }),
        end,
        async (messages, events, how) => {
          const { out, stream } = record(events, how, messages)
          expect(violations(out, messages)).toEqual([])
          const held = await reduceWithClient(out, { messages, state })
          expect(held.warnings).toEqual([])
          expect(stream.fold.messages).toEqual(held.messages)
          expect(stream.fold.state).toEqual(held.state)
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })

  it('can be taken up and ended wherever its log stops', () => {
    fc.assert(
      fc.property(
        history,
        fc.array(looseEvent, { maxLength: 30 }),
        end,
        fc.nat(),
        (messages, events, how, n) => {
          const { out } = record(events, how, messages)
          const logged = out.slice(0, n % out.length)
          const unreadable: unknown[] = []
          const rest: AgUiEvent[] = []
          const stream = resumeRunStream({
            ...{ threadId: 't', runId: 'r', messages, state, events: logged },
            emit: (event) => rest.push(event),
            onUnreadable: (error) => unreadable.push(error),
          })
          stream.fail(new Error('lost'))
          expect(unreadable).toEqual([])
          expect(violations([...logged, ...rest], messages)).toEqual([])
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })

  it('stays valid when attempts are closed on the way', () => {
    const attempts = fc.array(fc.array(looseEvent, { maxLength: 15 }), { maxLength: 4 })
    fc.assert(
      fc.property(attempts, fc.boolean(), (all, markComplete) => {
        const out: AgUiEvent[] = []
        const emit = (event: AgUiEvent) => out.push(event)
        const stream = createRunStream({ threadId: 't', runId: 'r', state, emit })
        for (const events of all) {
          for (const event of events) stream.write(event)
          stream.closeOpen({ reason: 'failed', mark: { tried: true }, markComplete })
        }
        stream.finish({ type: 'success' })
        expect(violations(out, [])).toEqual([])
      }),
      { numRuns: propertyRuns(300) },
    )
  })

  it('writes exactly one terminal event, and nothing after it', () => {
    fc.assert(
      fc.property(fc.array(looseEvent, { maxLength: 20 }), end, looseEvent, (events, how, late) => {
        const { out, stream } = record(events, how)
        const terminals = out.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')
        expect(terminals).toEqual(out.slice(-1))
        for (const write of [
          () => stream.write(late),
          () => stream.finish({ type: 'success' }),
          () => stream.fail(null),
        ]) {
          expect(write).toThrow('has ended')
        }
        expect(out.filter(({ type }) => type === 'RUN_FINISHED' || type === 'RUN_ERROR')).toHaveLength(1)
      }),
    )
  })
})
