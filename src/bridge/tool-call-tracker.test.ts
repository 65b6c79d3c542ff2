import type { Message } from '@ag-ui/core'
import { expect, it } from 'vitest'
import { brief } from '../../test/support/brief.js'
import { EventSink } from './event-sink.js'
import { ToolCallTracker } from './tool-call-tracker.js'

function createTracker(messages: readonly Message[] = []) {
  const sink = new EventSink()
  return { tracker: new ToolCallTracker({ sink, messages }), events: () => sink.take().map(brief) }
}

const result = (toolCallId: string) => ({ toolCallId, messageId: `${toolCallId}:result`, content: 'ok' })

it('writes a call and its result once', () => {
  const { tracker, events } = createTracker()
  const call = { id: 'c1', name: 'add', parentMessageId: 'm1', subagentRunId: 's1' }
  expect([tracker.write(call, '{}'), tracker.write(call, '{}')]).toEqual([true, false])
  expect([tracker.result(result('c1')), tracker.result(result('c1'))]).toEqual([true, false])
  tracker.sendEncryptedValue('c1', 'sealed', 's1')
  expect(events()).toEqual([
    'TOOL_CALL_START c1 @s1',
    'TOOL_CALL_ARGS c1 "{}" @s1',
    'TOOL_CALL_END c1 @s1',
    'TOOL_CALL_RESULT c1:result',
    'REASONING_ENCRYPTED_VALUE c1 @s1',
  ])
})

it('lists the pending calls in order until they have results or are abandoned', () => {
  const { tracker } = createTracker()
  for (const id of ['c1', 'c2', 'c3', 'c4']) tracker.start({ id, name: 'ask', isPending: id !== 'c2' })
  expect(tracker.pendingIds).toEqual(['c1', 'c3', 'c4'])
  tracker.result(result('c1'))
  tracker.abandon('c4')
  expect([tracker.pendingIds, tracker.isPending('c3'), tracker.isPending('c1')]).toEqual([
    ['c3'],
    true,
    false,
  ])
})

it('knows the calls and results of the thread', () => {
  const call = (id: string) => ({ id, type: 'function' as const, function: { name: 'add', arguments: '{}' } })
  const { tracker, events } = createTracker([
    { id: 'm1', role: 'assistant', toolCalls: [call('c1'), call('c2')] },
    { id: 't1', role: 'tool', toolCallId: 'c1', content: 'ok' },
  ])
  expect(tracker.start({ id: 'c1', name: 'add' })).toBe(false)
  expect([tracker.result(result('c1')), tracker.result(result('c2')), tracker.result(result('c3'))]).toEqual([
    false,
    true,
    false,
  ])
  tracker.addKnown('c3')
  tracker.addKnown('c4')
  tracker.addAnswered('c4')
  expect(['c1', 'c2', 'c3', 'c4', 'c5'].map((id) => [tracker.has(id), tracker.isOpen(id)])).toEqual([
    [true, false],
    [true, false],
    [true, true],
    [true, false],
    [false, false],
  ])
  expect(events()).toEqual(['TOOL_CALL_RESULT c2:result'])
})

it('knows a call by an id that it got later', () => {
  const { tracker, events } = createTracker()
  tracker.start({ id: 'm1:tc0', name: 'add', isPending: true })
  tracker.addAlias('call_1', 'm1:tc0')
  expect([tracker.has('call_1'), tracker.isOpen('call_1'), tracker.isPending('call_1')]).toEqual([
    true,
    true,
    true,
  ])
  expect(tracker.start({ id: 'call_1', name: 'add' })).toBe(false)
  tracker.result({ ...result('call_1'), metadata: { millrace: { isError: true } } })
  expect([tracker.hasResult('m1:tc0'), tracker.pendingIds]).toEqual([true, []])
  expect(events()).toEqual(['TOOL_CALL_START m1:tc0', 'TOOL_CALL_RESULT call_1:result'])
})
