import type { ContentBlock } from '@modelcontextprotocol/sdk/types.js'
import { expect, test } from 'vitest'
import { contentResult } from '../tools/tool-result.js'
import { fromCallResult } from './mcp-tools.js'

const text = (value: string): ContentBlock => ({ type: 'text', text: value })

test('text comes as text', () => {
  expect(fromCallResult({ content: [] })).toBe('')
  expect(fromCallResult({ content: [text('sunny')] })).toBe('sunny')
  expect(fromCallResult({ content: [text('sunny'), text('warm')] })).toBe('sunny\nwarm')
})

test('media come in parts, in their order', () => {
  const content: ContentBlock[] = [
    text('See:'),
    { type: 'image', data: 'aQ==', mimeType: 'image/png' },
    { type: 'audio', data: 'YQ==', mimeType: 'audio/wav' },
  ]
  expect(fromCallResult({ content })).toEqual(
    contentResult([
      { type: 'text', text: 'See:' },
      { type: 'image', source: { type: 'data', value: 'aQ==', mimeType: 'image/png' } },
      { type: 'audio', source: { type: 'data', value: 'YQ==', mimeType: 'audio/wav' } },
    ]),
  )
})

test.each([
  ['image/png', 'image'],
  ['audio/wav', 'audio'],
  ['video/mp4', 'video'],
  ['application/pdf', 'document'],
])('an embedded resource of type %s is a part of type %s', (mimeType, type) => {
  const content: ContentBlock[] = [{ type: 'resource', resource: { uri: 'a://b', blob: 'YQ==', mimeType } }]
  expect(fromCallResult({ content })).toEqual(
    contentResult([{ type, source: { type: 'data', value: 'YQ==', mimeType } } as never]),
  )
})

test('a resource without a type is a document of bytes', () => {
  const content: ContentBlock[] = [{ type: 'resource', resource: { uri: 'a://b', blob: 'YQ==' } }]
  const mimeType = 'application/octet-stream'
  expect(fromCallResult({ content })).toEqual(
    contentResult([{ type: 'document', source: { type: 'data', value: 'YQ==', mimeType } }]),
  )
})

test('a resource of text, and a link to a resource, are text', () => {
  const content: ContentBlock[] = [
    { type: 'resource', resource: { uri: 'file:///a', text: 'inside' } },
    { type: 'resource_link', uri: 'file:///b', name: 'b' },
    { type: 'resource_link', uri: 'file:///c', name: 'c', title: 'The c' },
  ]
  expect(fromCallResult({ content })).toBe('inside\nb: file:///b\nThe c: file:///c')
})

test('structured content comes as it is, once', () => {
  const structuredContent = { sum: 3 }
  expect(fromCallResult({ content: [], structuredContent })).toBe(structuredContent)
  expect(fromCallResult({ content: [text('{ "sum": 3 }')], structuredContent })).toBe(structuredContent)
})

test('nothing is lost when the text says something else than the structure', () => {
  const structuredContent = { sum: 3 }
  expect(fromCallResult({ content: [text('Done {'), text('{"sum":3}')], structuredContent })).toBe(
    'Done {\n{"sum":3}',
  )
  const content: ContentBlock[] = [{ type: 'image', data: 'aQ==', mimeType: 'image/png' }]
  expect(fromCallResult({ content, structuredContent })).toEqual(
    contentResult([
      { type: 'image', source: { type: 'data', value: 'aQ==', mimeType: 'image/png' } },
      { type: 'text', text: '{"sum":3}' },
    ]),
  )
})

test.each([
  [[text('no such'), text('city')], 'no such\ncity'],
  [[], 'The tool failed without saying why.'],
])('an error is thrown in the words of the server', (content, message) => {
  expect(() => fromCallResult({ content, isError: true })).toThrow(
    expect.objectContaining({ code: 'TOOL_ERROR', message }),
  )
})
