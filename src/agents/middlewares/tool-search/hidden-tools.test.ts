import type { Message } from '@ag-ui/core'
import { expect, test } from 'vitest'
import { foundInMessages } from './hidden-tools.js'

const call = (id: string, name = 'tool_search'): Message => ({
  id: `a-${id}`,
  role: 'assistant',
  toolCalls: [{ id, type: 'function', function: { name, arguments: '{}' } }],
})
const result = (toolCallId: string, content: string): Message => ({
  id: `t-${toolCallId}`,
  role: 'tool',
  toolCallId,
  content,
})
const found = (...names: string[]) => JSON.stringify({ tools: names.map((name) => ({ name })) })

test.each<[string, Message[], string[]]>([
  [
    'of all searches',
    [call('1'), result('1', found('a', 'b')), call('2'), result('2', found('b', 'c'))],
    ['a', 'b', 'c'],
  ],
  ['of no other tool', [call('1', 'other'), result('1', found('a'))], []],
  ['of no call', [result('1', found('a'))], []],
  ['of no error', [call('1'), result('1', 'Error: no')], []],
  ['of nothing else', [call('1'), result('1', '{"tools":[1,{"name":2},null]}')], []],
  ['of no subagent', [call('1'), result('1', found('a'))].map((one) => ({ ...one, subagentRunId: 's' })), []],
])('what was found is read from the results %s', (_, messages, names) => {
  expect(foundInMessages(messages)).toEqual(names)
})
