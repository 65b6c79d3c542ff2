import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { agentEvent } from '../../../test/support/arbitrary-events.js'
import { brief } from '../../../test/support/brief.js'
import { assertValidStream, lintEvents } from '../../testing/index.js'
import type { AgentEvent, AgUiEvent, RunEnd } from '../contract.js'
import { withRunStream } from './run-stream.js'
import { propertyRuns } from '../../../test/support/property-runs.js'

const ids = { threadId: 't', runId: 'r' }

function setup() {
  const stray: unknown[] = []
  return { stray, options: { ...ids, graceMs: 0, onStrayError: (error: unknown) => stray.push(error) } }
}

async function collect(stream: AsyncIterable<AgUiEvent>): Promise<AgUiEvent[]> {
  const events: AgUiEvent[] = []
  for await (const event of stream) events.push(event)
  return events
}

const hello: AgentEvent = { type: 'TEXT_MESSAGE_CHUNK', messageId: 'm1', delta: 'Hello' }

// eslint-disable-next-line @typescript-eslint/require-await -- an agent that has nothing to wait for
async function* agent(
  events: AgentEvent[],
  end?: RunEnd | Error,
): AsyncGenerator<AgentEvent, RunEnd | undefined> {
  yield* events
  if (end instanceof Error) throw end
  return end
}

describe('a generator made a run', () => {
  it('succeeds when the agent returns nothing, and returns what the client holds', async () => {
    const stream = withRunStream(agent([hello]), setup().options)
    const events: AgUiEvent[] = []
    let step = await stream.next()
    for (; step.done !== true; step = await stream.next()) events.push(step.value)
    assertValidStream(events)
    expect(events.at(-1)).toEqual({ type: 'RUN_FINISHED', ...ids, outcome: { type: 'success' } })
    expect(step.value).toMatchObject({ messages: [{ id: 'm1', content: 'Hello' }], state: {} })
  })

  it('ends in RUN_ERROR when the agent throws', async () => {
    const events = await collect(withRunStream(agent([hello], new Error('secret')), setup().options))
    assertValidStream(events)
    expect(events.slice(-2).map(brief)).toEqual(['TEXT_MESSAGE_END m1', 'RUN_ERROR AGENT_ERROR'])
  })

  it('ends in RUN_ERROR when the agent writes what has no meaning, and closes the agent', async () => {
    let closed = false
    async function* broken(): AsyncGenerator<AgentEvent, undefined> {
      try {
        yield { type: 'CUSTOM', name: 'x', value: Promise.resolve() }
        await Promise.resolve()
        return undefined
      } finally {
        closed = true
      }
    }
    const events = await collect(withRunStream(broken(), setup().options))
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'ENCODING_ERROR' })
    expect(closed).toBe(true)
  })

  it('ends in RUN_ERROR when the agent asks in a way that cannot be answered', async () => {
    const interrupts = [
      { id: 'i', reason: 'a' },
      { id: 'i', reason: 'b' },
    ]
    const events = await collect(
      withRunStream(agent([hello], { type: 'interrupt', interrupts }), setup().options),
    )
    assertValidStream(events)
    expect(events.at(-1)).toMatchObject({ type: 'RUN_ERROR', code: 'INVALID_INTERRUPT' })
  })

  it('is cancelled by the signal, also when the agent never reacts', async () => {
    const controller = new AbortController()
    async function* deaf(): AsyncGenerator<AgentEvent, undefined> {
      yield hello
      await new Promise(() => undefined)
      return undefined
    }
    const events: AgUiEvent[] = []
    for await (const event of withRunStream(deaf(), { ...setup().options, signal: controller.signal })) {
      events.push(event)
      if (event.type === 'TEXT_MESSAGE_CONTENT') controller.abort()
    }
    assertValidStream(events)
    expect(events.slice(-2)).toEqual([
      { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
      { type: 'RUN_FINISHED', ...ids, outcome: { type: 'cancelled' } },
    ])
  })

  it('closes the agent when the consumer stops early', async () => {
    let closed = false
    async function* endless(): AsyncGenerator<AgentEvent, undefined> {
      try {
        for (;;) {
          yield hello
          await Promise.resolve()
        }
      } finally {
        closed = true
      }
    }
    for await (const event of withRunStream(endless(), setup().options)) {
      if (event.type === 'TEXT_MESSAGE_CONTENT') break
    }
    expect(closed).toBe(true)
  })

  it('gives a valid stream wherever an error or an abort strikes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(agentEvent, { maxLength: 12 }),
        fc.nat(12),
        fc.constantFrom('throw', 'abort', 'end'),
        async (events, at, how) => {
          const controller = new AbortController()
          async function* struck(): AsyncGenerator<AgentEvent, undefined> {
            for (const [index, event] of events.entries()) {
              if (index === at && how === 'throw') throw new Error('struck')
              if (index === at && how === 'abort') controller.abort()
              await Promise.resolve()
              yield event
            }
            return undefined
          }
          const { options, stray } = setup()
          const out = await collect(withRunStream(struck(), { ...options, signal: controller.signal }))
          const violations = lintEvents(out).filter(
            ({ index = -1 }) => out[index]?.type !== 'MESSAGES_SNAPSHOT',
          )
          expect(violations).toEqual([])
          const outcome = how === 'abort' && at < events.length ? 'cancelled' : 'success'
          const failed = how === 'throw' && at < events.length
          expect(out.at(-1)).toMatchObject(failed ? { type: 'RUN_ERROR' } : { outcome: { type: outcome } })
          expect(stray).toEqual([])
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })
})
