import { omitOptionalNulls } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'

import { parseRunInput } from './parse-run-input.js'

const minimal = { threadId: 't', runId: 'r', messages: [] }
const defaults = { state: {}, tools: [], context: [], resume: [] }
const user = (content: unknown) => ({ id: 'u', role: 'user', content })
const image = { type: 'image', source: { type: 'data', value: 'AAAA', mimeType: 'image/png' } }
const call = { id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }
const assistant = (members: object) => ({ id: 'a', role: 'assistant', ...members })
const inMessages = (...messages: unknown[]) => ({ ...minimal, messages })

describe('a null of an optional field', () => {
  it.each([
    ['parentRunId', { ...minimal, parentRunId: null }],
    ['protocolVersion', { ...minimal, protocolVersion: null }],
    ['state', { ...minimal, state: null }],
    ['tools', { ...minimal, tools: null }],
    ['context', { ...minimal, context: null }],
    ['forwardedProps', { ...minimal, forwardedProps: null }],
    ['resume', { ...minimal, resume: null }],
    ['resume[0].payload', { ...minimal, resume: [{ interruptId: 'i', status: 'resolved', payload: null }] }],
    [
      'resume[0].metadata',
      { ...minimal, resume: [{ interruptId: 'i', status: 'cancelled', metadata: null }] },
    ],
    ['tools[0].parameters', { ...minimal, tools: [{ name: 'f', description: 'd', parameters: null }] }],
    ['tools[0].metadata', { ...minimal, tools: [{ name: 'f', description: 'd', metadata: null }] }],
    ['messages[0].content', inMessages(assistant({ content: null, toolCalls: [call] }))],
    ['messages[0].toolCalls', inMessages(assistant({ content: 'x', toolCalls: null }))],
    [
      'messages[0].toolCalls[0].metadata',
      inMessages(assistant({ toolCalls: [{ ...call, metadata: null }] })),
    ],
    [
      'messages[0].toolCalls[0].encryptedValue',
      inMessages(assistant({ toolCalls: [{ ...call, encryptedValue: null }] })),
    ],
    ['messages[0].name', inMessages({ ...user('x'), name: null })],
    ['messages[0].subagentRunId', inMessages({ ...user('x'), subagentRunId: null })],
    ['messages[0].encryptedValue', inMessages({ ...user('x'), encryptedValue: null })],
    ['messages[0].metadata', inMessages({ ...user('x'), metadata: null })],
    ['messages[0].error', inMessages({ id: 'x', role: 'tool', toolCallId: 'c', content: '', error: null })],
    ['messages[0].content[0].id', inMessages(user([{ type: 'text', text: 'x', id: null }]))],
    ['messages[0].content[0].metadata', inMessages(user([{ ...image, metadata: null }]))],
    [
      'messages[0].content[0].source.mimeType',
      inMessages(user([{ type: 'image', source: { type: 'url', value: 'https://x', mimeType: null } }])),
    ],
    [
      'messages[0].content[0].source.provider',
      inMessages(user([{ type: 'image', source: { type: 'file', value: 'f', provider: null } }])),
    ],
  ])('is read as absent: %s', (field, body) => {
    const { input, warnings } = parseRunInput(body)
    expect(warnings).toEqual([{ field, message: 'null, read as absent' }])
    expect(input).toEqual({ ...defaults, ...omitOptionalNulls(body, 'RunAgentInput') })
  })
})
