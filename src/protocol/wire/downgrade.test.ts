import type { ContentPart, Interrupt, RunAgentInput } from '@ag-ui/core'
import { EventSchema } from '@ag-ui/core/schemas'
import { EventSchemas as LegacyEventSchema } from 'ag-ui-client-0.0.59'
import fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { anyEvent, eventsByType } from '../../../test/e2e/support-arbitraries.js'
import type { AgUiEvent, FieldNote } from '../contract.js'
import { createDowngrade, type DowngradeOptions } from './downgrade.js'

function downgrade(event: AgUiEvent, options: DowngradeOptions = {}) {
  const warnings: FieldNote[] = []
  const result = createDowngrade({ warn: (note) => warnings.push(note), ...options })(event).at(-1)
  return { event: result, warnings }
}

const ids = { threadId: 't', runId: 'r' }
const text: ContentPart = { type: 'text', text: 'a' }
const image: ContentPart = { type: 'image', source: { type: 'data', value: 'AA', mimeType: 'image/png' } }
const file: ContentPart = { type: 'document', source: { type: 'file', value: 'file-1' } }

describe('any downgraded event', () => {
  it.each([...eventsByType])('of type %s is valid for 0.0.59 and for 1.0', (_type, arbitrary) => {
    fc.assert(
      fc.property(arbitrary, fc.constantFrom('inline', 'keep'), (event, subagents) => {
        const before = structuredClone(event)
        const results = createDowngrade({ subagents })(event)
        expect(event).toEqual(before)
        for (const result of results) {
          expect(LegacyEventSchema.safeParse(result).error).toBeUndefined()
          expect(EventSchema.safeParse(result).error).toBeUndefined()
        }
      }),
    )
  })

  it('is left alone by a second downgrade', () => {
    fc.assert(
      fc.property(anyEvent, (event) => {
        const once = createDowngrade()(event).at(-1)
        if (once) expect(createDowngrade()(once).at(-1)).toEqual(once)
      }),
    )
  })

  it('is the very same object where nothing is to be done', () => {
    const event: AgUiEvent = { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm', delta: 'x' }
    expect(createDowngrade()(event)[0]).toBe(event)
  })
})

describe('the end of a run', () => {
  it('that was cancelled becomes an abort, with what it had used', () => {
    const usage = [{ model: 'x', inputTokens: 1, cacheWriteInputTokens: 1 }]
    const base = { timestamp: 5, metadata: { a: 1 }, usage }
    const { event } = downgrade({ type: 'RUN_FINISHED', ...ids, ...base, outcome: { type: 'cancelled' } })
    expect(event).toEqual({ type: 'RUN_ERROR', message: 'The run was cancelled.', code: 'abort', ...base })
  })

  it('that leaves tool calls to the client does not call itself a success, nor name them', () => {
    const { event } = downgrade({
      type: 'RUN_FINISHED',
      ...ids,
      result: 1,
      outcome: { type: 'success', pendingToolCallIds: ['c'] },
    })
    expect(event).toEqual({ type: 'RUN_FINISHED', ...ids, result: 1 })
  })

  it('that leaves none is a success', () => {
    const outcome = { type: 'success' as const, pendingToolCallIds: [] }
    const { event } = downgrade({ type: 'RUN_FINISHED', ...ids, outcome })
    expect(event).toEqual({ type: 'RUN_FINISHED', ...ids, outcome: { type: 'success' } })
  })

  it('that interrupts does not tell when the interrupts expire, nor whose they are', () => {
    const interrupt: Interrupt = { id: 'i', reason: 'confirmation', metadata: { a: null } }
    const given = { ...interrupt, expiresAt: '2030-01-01T00:00:00Z', subagentRunId: 's' }
    const finished: AgUiEvent = {
      type: 'RUN_FINISHED',
      ...ids,
      outcome: { type: 'interrupt', interrupts: [given] },
    }
    const interruptsOf = (event: AgUiEvent | undefined) => event?.type === 'RUN_FINISHED' && event.outcome
    expect(interruptsOf(downgrade(finished).event)).toEqual({ type: 'interrupt', interrupts: [interrupt] })
    expect(interruptsOf(downgrade(finished, { subagents: 'keep' }).event)).toEqual({
      type: 'interrupt',
      interrupts: [{ ...interrupt, subagentRunId: 's' }],
    })
  })

  it('without an outcome stays as it is', () => {
    const event: AgUiEvent = { type: 'RUN_FINISHED', ...ids }
    expect(downgrade(event).event).toBe(event)
  })
})

describe('content', () => {
  it('of a tool result becomes text', () => {
    const result = { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c' } as const
    const { event, warnings } = downgrade({ ...result, content: [text, text] })
    expect(event).toEqual({ ...result, content: 'aa' })
    expect(warnings).toEqual([])
  })

  it('of a tool result that is not text is dropped with a warning', () => {
    const result = { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c' } as const
    const { event, warnings } = downgrade({ ...result, content: [image] })
    expect(event).toEqual({ ...result, content: '' })
    expect(warnings).toEqual([
      { field: 'TOOL_CALL_RESULT.content', message: 'media dropped for a client before 1.0' },
    ])
  })

  it('of the messages of a snapshot is made readable', () => {
    const { event, warnings } = downgrade({
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        { id: 'u', role: 'user', content: [text, file, image] },
        { id: 'x', role: 'tool', toolCallId: 'c', content: [text, image], error: 'e' },
        { id: 'y', role: 'user', content: 'plain' },
      ],
    })
    expect(event).toEqual({
      type: 'MESSAGES_SNAPSHOT',
      messages: [
        { id: 'u', role: 'user', content: [text, image] },
        { id: 'x', role: 'tool', toolCallId: 'c', content: 'a', error: 'e' },
        { id: 'y', role: 'user', content: 'plain' },
      ],
    })
    expect(warnings.map((warning) => warning.field)).toEqual([
      'MESSAGES_SNAPSHOT.messages[0].content[1]',
      'MESSAGES_SNAPSHOT.messages[1].content',
    ])
  })
})

describe('the input that a run echoes', () => {
  const input = { ...ids, protocolVersion: '1.0', messages: [{ id: 'u', role: 'user', content: [file] }] }
  const started = { type: 'RUN_STARTED', ...ids, input } as unknown as AgUiEvent

  it('always carries tools and context, and messages that can be read', () => {
    const { event, warnings } = downgrade(started)
    const messages = [{ id: 'u', role: 'user', content: [] }]
    expect(event).toEqual({ ...started, input: { ...input, tools: [], context: [], messages } })
    expect(warnings.map((warning) => warning.field)).toEqual(['RUN_STARTED.input.messages[0].content[0]'])
  })

  it('keeps its own tools and context', () => {
    const tools: RunAgentInput['tools'] = [{ name: 'f', description: '' }]
    const context: RunAgentInput['context'] = [{ description: '', value: '' }]
    const full: RunAgentInput = { ...ids, messages: [], tools, context }
    const { event } = downgrade({ type: 'RUN_STARTED', ...ids, input: full })
    expect(event).toHaveProperty('input', full)
  })
})

it('names each kind of loss once in a run, and again in the next', () => {
  const warnings: FieldNote[] = []
  const downgrade = createDowngrade({ warn: (note) => warnings.push(note) })
  const expiring: Interrupt = { id: 'i', reason: 'confirmation', expiresAt: '2030-01-01T00:00:00Z' }
  const events: AgUiEvent[] = [
    { type: 'RUN_STARTED', ...ids },
    { type: 'TOOL_CALL_RESULT', messageId: 'm', toolCallId: 'c', content: [image] },
    { type: 'TOOL_CALL_RESULT', messageId: 'n', toolCallId: 'd', content: [image] },
    { type: 'SUBAGENT_STARTED', subagentRunId: 's', name: 'helper' },
    { type: 'SUBAGENT_FINISHED', subagentRunId: 's' },
    { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content: [file, file] }] },
    { type: 'RUN_FINISHED', ...ids, outcome: { type: 'interrupt', interrupts: [expiring, expiring] } },
  ]
  const fields = [
    'TOOL_CALL_RESULT.content',
    'SUBAGENT_STARTED',
    'MESSAGES_SNAPSHOT.messages[0].content[0]',
    'RUN_FINISHED.outcome.interrupts[0].expiresAt',
  ]
  events.forEach(downgrade)
  expect(warnings.map(({ field }) => field)).toEqual(fields)
  events.forEach(downgrade)
  expect(warnings.map(({ field }) => field)).toEqual([...fields, ...fields])
})

it('says nothing when nobody listens', () => {
  const consoleWarn = vi.spyOn(console, 'warn')
  expect(() =>
    createDowngrade()({ type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'u', role: 'user', content: [file] }] }),
  ).not.toThrow()
  expect(consoleWarn).not.toHaveBeenCalled()
  consoleWarn.mockRestore()
})

describe('a client that does not know subagents', () => {
  const tag = { subagentRunId: 's' }
  const started = (stepName: string, owner = {}): AgUiEvent => ({ type: 'STEP_STARTED', stepName, ...owner })
  const finished = (stepName: string, owner = {}): AgUiEvent => ({
    type: 'STEP_FINISHED',
    stepName,
    ...owner,
  })
  const ids = { threadId: 't', runId: 'r' }

  function inline(...events: AgUiEvent[]): AgUiEvent[] {
    return events.flatMap(createDowngrade())
  }

  describe('the work of a subagent', () => {
    it('is not announced', () => {
      expect(
        inline(
          { type: 'SUBAGENT_STARTED', ...tag, name: 'x' },
          { type: 'SUBAGENT_FINISHED', ...tag },
          { type: 'SUBAGENT_ERROR', ...tag, message: 'x' },
        ),
      ).toEqual([])
    })

    it('reads as the work of its parent', () => {
      expect(
        inline(
          { type: 'TEXT_MESSAGE_START', messageId: 'm', ...tag },
          { type: 'STATE_DELTA', delta: [], subagentRunId: '' },
          { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'x', ...tag }] },
          {
            type: 'RUN_STARTED',
            ...ids,
            input: {
              ...ids,
              tools: [],
              context: [],
              messages: [{ id: 'u', role: 'user', content: 'x', ...tag }],
            },
          },
        ),
      ).toEqual([
        { type: 'TEXT_MESSAGE_START', messageId: 'm' },
        { type: 'STATE_DELTA', delta: [] },
        { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'x' }] },
        {
          type: 'RUN_STARTED',
          ...ids,
          input: { ...ids, tools: [], context: [], messages: [{ id: 'u', role: 'user', content: 'x' }] },
        },
      ])
    })

    it('stays its own when asked for', () => {
      const events: AgUiEvent[] = [
        { type: 'SUBAGENT_STARTED', ...tag, name: 'x' },
        started('tools'),
        started('tools', tag),
        { type: 'MESSAGES_SNAPSHOT', messages: [{ id: 'm', role: 'assistant', content: 'x', ...tag }] },
      ]
      expect(events.flatMap(createDowngrade({ subagents: 'keep' }))).toEqual(events)
    })
  })

  describe('the steps of parent and subagents', () => {
    it('get different names while they are open, and end under the name they began with', () => {
      const other = { subagentRunId: '' }
      expect(
        inline(
          started('tools'),
          started('tools', tag),
          started('tools', other),
          finished('tools'),
          started('tools'),
          finished('tools', other),
          finished('tools', tag),
          finished('tools'),
        ),
      ).toEqual([
        started('tools'),
        started('tools#2'),
        started('tools#3'),
        finished('tools'),
        started('tools'),
        finished('tools#3'),
        finished('tools#2'),
        finished('tools'),
      ])
    })

    it('keep their name when it is free again', () => {
      const steps = [started('tools', tag), finished('tools', tag), started('tools'), finished('tools')]
      expect(inline(...steps)).toEqual([
        started('tools'),
        finished('tools'),
        started('tools'),
        finished('tools'),
      ])
    })

    it('do not take the name of a step that is really called so', () => {
      expect(inline(started('tools#2'), started('tools'), started('tools', tag))).toEqual([
        started('tools#2'),
        started('tools'),
        started('tools#3'),
      ])
    })

    it('are forgotten when the next run begins', () => {
      const run: AgUiEvent = { type: 'RUN_STARTED', ...ids }
      const failed: AgUiEvent = { type: 'RUN_ERROR', message: 'x' }
      expect(inline(run, started('tools'), failed, run, started('tools', tag))).toEqual([
        run,
        started('tools'),
        failed,
        run,
        started('tools'),
      ])
    })
  })
})
