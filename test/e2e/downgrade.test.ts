import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as LegacyHttpAgent } from 'ag-ui-client-0.0.59'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import type { AgUiEvent } from '../../src/protocol/events.js'
import { parseRunInput } from '../../src/protocol/input/parse-run-input.js'
import { createDowngrade } from '../../src/protocol/wire/downgrade.js'
import { createSseEncoder, sseHeaders } from '../../src/protocol/wire/sse.js'
import { goldenStreams } from '../fixtures/golden-streams.js'
import { bodyOf, serve } from './loopback.js'
import { calling, finished, ids, message, rules, started, toolCall } from './support-downgrade.js'

type Client = typeof HttpAgent | typeof LegacyHttpAgent

/** What a client holds after a run. */
interface Held {
  readonly messages: unknown
  readonly state: unknown
  readonly types: readonly string[]
  readonly codes: readonly unknown[]
}

async function read(Agent: Client, events: readonly AgUiEvent[]): Promise<Held> {
  const types: string[] = []
  const codes: unknown[] = []
  let held: Held | undefined
  await withServer(
    () => events,
    async (url) => {
      const agent = new Agent({ url, threadId: 't' })
      await agent.runAgent(
        { runId: 'r' },
        {
          onEvent: ({ event }) => void types.push(event.type),
          onRunErrorEvent: ({ event }) => void codes.push(event.code),
        },
      )
      held = { messages: agent.messages, state: agent.state, types, codes }
    },
  )
  if (!held) throw new Error('the run was never read')
  return held
}

function downgraded(events: readonly AgUiEvent[]): AgUiEvent[] {
  return events.map(createDowngrade()).filter((event) => event !== undefined)
}

beforeEach(() => {
  // Both clients print every failure; the tests look at the failure itself.
  vi.spyOn(console, 'error').mockImplementation(() => undefined)
})

afterEach(() => {
  vi.restoreAllMocks()
})

describe.each(rules)('$shape', ({ events, failure, messages, codes = [] }) => {
  it('ends the stream of a 0.0.59 client as it is', async () => {
    await expect(read(LegacyHttpAgent, events)).rejects.toThrow(failure)
  })

  it('is read by a 0.0.59 client when downgraded', async () => {
    expect(await read(LegacyHttpAgent, downgraded(events))).toMatchObject({ messages, codes })
  })

  it('is read by a 1.0 client when downgraded, without a warning', async () => {
    const warned = vi.spyOn(console, 'warn')
    expect(await read(HttpAgent, downgraded(events))).toMatchObject({ messages, codes })
    expect(warned).not.toHaveBeenCalled()
  })
})

describe('an interrupt that expires', () => {
  const interrupt = { id: 'i', reason: 'confirmation', expiresAt: '2000-01-01T00:00:00Z' }
  const asking: AgUiEvent[] = [
    started,
    { type: 'RUN_FINISHED', ...ids, outcome: { type: 'interrupt', interrupts: [interrupt] } },
  ]
  const resume = [{ interruptId: 'i', status: 'cancelled' as const }]

  async function askThenCancel(Agent: Client, events: readonly AgUiEvent[]): Promise<void> {
    const answers = [events, [started, finished]]
    await withServer(
      () => answers.shift() ?? [],
      async (url) => {
        const agent = new Agent({ url, threadId: 't' })
        await agent.runAgent()
        expect(agent.pendingInterrupts).toHaveLength(1)
        await agent.runAgent({ resume })
        expect(agent.pendingInterrupts).toEqual([])
      },
    )
  }

  it('can never be cancelled by a 0.0.59 client as it is', async () => {
    await expect(askThenCancel(LegacyHttpAgent, asking)).rejects.toThrow(/Interrupt i expired/)
  })

  it.each<[string, Client]>([
    ['0.0.59', LegacyHttpAgent],
    ['1.0', HttpAgent],
  ])('can be cancelled by a %s client when downgraded', async (_version, Agent) => {
    await askThenCancel(Agent, downgraded(asking))
  })
})

describe('the work of a subagent', () => {
  const owner = { subagentRunId: 's' }
  const events: AgUiEvent[] = [
    started,
    { type: 'STEP_STARTED', stepName: 'tools' },
    { type: 'SUBAGENT_STARTED', ...owner, name: 'helper' },
    { type: 'STEP_STARTED', stepName: 'tools', ...owner },
    { type: 'REASONING_MESSAGE_START', messageId: 'z', role: 'reasoning', ...owner },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'z', delta: 'hm', ...owner },
    { type: 'REASONING_MESSAGE_END', messageId: 'z', ...owner },
    ...message('m', 'mine', owner),
    ...toolCall('c', owner),
    { type: 'STATE_SNAPSHOT', snapshot: { n: 1 }, ...owner },
    { type: 'STATE_DELTA', delta: [{ op: 'replace', path: '/n', value: 2 }], ...owner },
    { type: 'STEP_FINISHED', stepName: 'tools', ...owner },
    { type: 'SUBAGENT_FINISHED', ...owner, outcome: { type: 'suspended', interruptIds: ['i'] } },
    { type: 'STEP_FINISHED', stepName: 'tools' },
    ...message('n', 'done'),
    {
      type: 'RUN_FINISHED',
      ...ids,
      outcome: {
        type: 'interrupt',
        interrupts: [{ id: 'i', reason: 'tool_call', toolCallId: 'c', ...owner }],
      },
    },
  ]
  const held = {
    state: { n: 2 },
    messages: [
      { id: 'z', role: 'reasoning', content: 'hm' },
      { ...calling, content: 'mine' },
      { id: 'n', role: 'assistant', content: 'done' },
    ],
  }

  it('loses its steps to those of its parent when only its tags are taken off', async () => {
    const untagged = events
      .filter((event) => !event.type.startsWith('SUBAGENT_'))
      .map((event) => ({ ...event, subagentRunId: undefined }) as unknown as AgUiEvent)
    await expect(read(LegacyHttpAgent, untagged)).rejects.toThrow(/Step "tools" is already active/)
  })

  it.each<[string, Client]>([
    ['0.0.59', LegacyHttpAgent],
    ['1.0', HttpAgent],
  ])('is read by a %s client as the work of its parent', async (_version, Agent) => {
    const result = await read(Agent, downgraded(events))
    expect(result).toMatchObject({ state: held.state })
    expect(result.messages).toEqual(held.messages)
    expect(result.types.filter((type) => type.startsWith('SUBAGENT_'))).toEqual([])
  })
})

describe('a server that asks the input for its peer', () => {
  const cancelled: AgUiEvent[] = [
    started,
    ...message('m', 'par'),
    { type: 'RUN_FINISHED', ...ids, outcome: { type: 'cancelled' } },
  ]
  const answer = (body: unknown) => (parseRunInput(body).peer.legacy ? downgraded(cancelled) : cancelled)

  it('serves both generations of clients', async () => {
    const ends: unknown[] = []
    await withServer(answer, async (url) => {
      await new LegacyHttpAgent({ url }).runAgent(
        {},
        { onRunErrorEvent: ({ event }) => void ends.push(event.code) },
      )
      await new HttpAgent({ url }).runAgent(
        {},
        { onRunFinishedEvent: ({ outcome }) => void ends.push(outcome) },
      )
    })
    expect(ends).toEqual(['abort', 'cancelled'])
  })
})
