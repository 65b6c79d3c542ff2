import { readFileSync } from 'node:fs'
import type { Event } from '@google/adk'
import { expect, test } from 'vitest'
import { adkEvent, told, translateEvents } from '../../../test/support/adk/translate-events.js'

// What the Runner of ADK 2.0 gave, where that is not easily had again: without times, invocations and empty actions.
const recorded = JSON.parse(
  readFileSync(new URL('./fixtures/recorded.json', import.meta.url), 'utf8'),
) as Record<string, Partial<Event>[]>

function translate(name: string, options: Parameters<typeof translateEvents>[1] = {}) {
  const events = recorded[name]?.map(adkEvent) ?? []
  expect(events).not.toEqual([])
  return translateEvents(events, options)
}

test('Gemini in progressive mode: ADK runs the calls of a piece, and those of the whole again', () => {
  const translated = translate('Gemini in progressive mode')
  expect(told(translated)).toEqual([
    'assistant: Let me check. (weather, weather)',
    'tool: sunny',
    'tool: sunny',
    'assistant: Both sunny.',
  ])
  expect(translated.problems).toEqual([])
  expect(translated.marks.map(({ messageIds }) => messageIds?.join())).toEqual([
    undefined,
    'message-1',
    undefined,
    'message-2',
  ])
})

test('a call in a piece that the model gave no id: ADK has made and run two', () => {
  const translated = translate('a call in a piece')
  expect(told(translated)).toEqual([
    'assistant:  (weather)',
    'tool: sunny',
    'assistant:  (weather)',
    'tool: sunny',
    'assistant: x',
  ])
})

test('a tool that needs a credential has no result yet; its sibling has', () => {
  const translated = translate('a tool that needs a credential')
  expect(told(translated)).toEqual(['assistant:  (mail, weather)', 'tool: sunny'])
  expect(translated.translator.requests).toMatchObject([{ request: { kind: 'credential' } }])
  expect(JSON.stringify(translated.stream)).not.toContain('X-Key')
})

test('a sibling that fails, on no branch: the other one goes on', () => {
  const translated = translate('a sibling that fails')
  expect(told(translated)).toEqual(['assistant[A]: a1', 'assistant[B]: b1b2b3'])
  expect(translated.loose.filter(({ type }) => type === 'SUBAGENT_STARTED')).toHaveLength(2)
  expect(translated.loose).toContainEqual(
    expect.objectContaining({
      name: 'adk.error',
      value: { code: 'UNKNOWN_ERROR', author: 'A' },
    }),
  )
})

test('a workflow whose node throws: the error is known before it is thrown', () => {
  const { translator } = translate('a workflow whose node throws', { isAgent: (author) => author === 'A' })
  expect(translator.error).toEqual({ code: 'UNKNOWN_ERROR', message: 'kaput' })
})
