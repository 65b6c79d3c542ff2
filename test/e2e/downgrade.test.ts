import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as LegacyHttpAgent } from 'ag-ui-client-0.0.59'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'

import type { AgUiEvent } from '../../src/protocol/contract.js'
import { parseRunInput } from '../../src/protocol/parse-run-input.js'
import { createDowngrade } from '../../src/protocol/wire/downgrade.js'
import { goldenStreams } from '../fixtures/golden-streams.js'
import {
  calling,
  finished,
  ids,
  message,
  rules,
  serveEvents,
  started,
  toolCall,
  within,
} from './support-downgrade.js'

type Client = typeof HttpAgent | typeof LegacyHttpAgent

const clients: readonly [string, Client][] = [
  ['0.0.59', LegacyHttpAgent],
  ['1.0', HttpAgent],
]

/** What a client holds after a run. */
interface Held {
  readonly messages: unknown
  readonly state: unknown
  /** The types of the events it saw. */
  readonly types: readonly string[]
  /** The codes of the errors it was told. */
  readonly codes: readonly unknown[]
}

async function read(Agent: Client, events: readonly AgUiEvent[]): Promise<Held> {
  const types: string[] = []
  const codes: unknown[] = []
  const agent = new Agent({ url: await serveEvents(() => events), threadId: 't' })
  await within(
    agent.runAgent(
      { runId: 'r' },
      {
        onEvent: ({ event }) => void types.push(event.type),
        onRunErrorEvent: ({ event }) => void codes.push(event.code),
      },
    ),
  )
  return { messages: agent.messages, state: agent.state, types, codes }
}

function downgraded(events: readonly AgUiEvent[]): AgUiEvent[] {
  return events.flatMap(createDowngrade())
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

  it.each(clients)('is read by a %s client when downgraded, without a warning', async (_version, Agent) => {
    const warned = vi.spyOn(console, 'warn')
    const held = await read(Agent, downgraded(events))
    expect(held.messages).toEqual(messages)
    expect(held.codes).toEqual(codes)
    expect(warned).not.toHaveBeenCalled()
  })
})

describe('an interrupt that expires', () => {
  const interrupt = { id: 'i', reason: 'confirmation', expiresAt: '2000-01-01T00:00:00Z' }
  const asking: AgUiEvent[] = [
    started,
    { type: 'RUN_FINISHED', ...ids, outcome: { type: 'interrupt', interrupts: [interrupt] } },
  ]

  async function askThenCancel(Agent: Client, events: readonly AgUiEvent[]): Promise<void> {
    const answers = [events, [started, finished]]
    const agent = new Agent({ url: await serveEvents(() => answers.shift() ?? []), threadId: 't' })
    await within(agent.runAgent())
    expect(agent.pendingInterrupts).toHaveLength(1)
    await within(agent.runAgent({ resume: [{ interruptId: 'i', status: 'cancelled' }] }))
    expect(agent.pendingInterrupts).toEqual([])
  }

  it('can never be cancelled by a 0.0.59 client as it is', async () => {
    await expect(askThenCancel(LegacyHttpAgent, asking)).rejects.toThrow(/Interrupt i expired/)
  })

  it.each(clients)('can be cancelled by a %s client when downgraded', async (_version, Agent) => {
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
  it('loses its steps to those of its parent when only its tags are taken off', async () => {
    const untagged = events
      .filter((event) => !event.type.startsWith('SUBAGENT_'))
      .map((event) => ({ ...event, subagentRunId: undefined }) as unknown as AgUiEvent)
    await expect(read(LegacyHttpAgent, untagged)).rejects.toThrow(/Step "tools" is already active/)
  })

  it.each(clients)('is read by a %s client as the work of its parent', async (_version, Agent) => {
    const { messages, state, types } = await read(Agent, downgraded(events))
    expect(messages).toEqual([
      { id: 'z', role: 'reasoning', content: 'hm' },
      { ...calling, content: 'mine', name: 'helper' },
      { id: 'n', role: 'assistant', content: 'done' },
    ])
    expect(state).toEqual({ n: 2 })
    expect(types.filter((type) => type.startsWith('SUBAGENT_'))).toEqual([])
  })

  it('can be kept for a 0.0.59 client', async () => {
    const kept = events.flatMap(createDowngrade({ subagents: 'keep' }))
    const { messages, types } = await read(LegacyHttpAgent, kept)
    expect(messages).toContainEqual({ ...calling, content: 'mine', ...owner })
    expect(types.filter((type) => type.startsWith('SUBAGENT_'))).toHaveLength(2)
  })
})

describe.each(goldenStreams)('the stream "$name"', ({ events }) => {
  it.each(clients)('is read by a %s client when downgraded, without a warning', async (_version, Agent) => {
    const warned = vi.spyOn(console, 'warn')
    const { types } = await read(Agent, downgraded(events))
    expect(types).toEqual(downgraded(events).map((event) => event.type))
    expect(warned).not.toHaveBeenCalled()
  })
})

it('lets one server tell both generations of clients apart by their input', async () => {
  const cancelled: AgUiEvent[] = [
    started,
    ...message('m', 'par'),
    { type: 'RUN_FINISHED', ...ids, outcome: { type: 'cancelled' } },
  ]
  const url = await serveEvents((body) =>
    parseRunInput(body).peer.legacy ? downgraded(cancelled) : cancelled,
  )
  const ends: unknown[] = []
  const legacy = new LegacyHttpAgent({ url })
  await within(legacy.runAgent({}, { onRunErrorEvent: ({ event }) => void ends.push(event.code) }))
  const modern = new HttpAgent({ url })
  await within(modern.runAgent({}, { onRunFinishedEvent: ({ outcome }) => void ends.push(outcome) }))
  expect(ends).toEqual(['abort', 'cancelled'])
})
