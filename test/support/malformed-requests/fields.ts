import { goodText, inputOf, user, type Refused } from './request.js'

const tool = { name: 't', description: '', parameters: {} }
export const entry = { interruptId: 'i', status: 'resolved' }

export const fields: readonly Refused[] = [
  ...[null, [], 'text', 7, true].map((body) => ({ body: JSON.stringify(body), name: JSON.stringify(body) })),
  ...[
    undefined,
    null,
    7,
    '',
    {},
    ['t'],
    'x'.repeat(257),
    'a\nb',
    'a\u0000',
    '\u001b[2J',
    'a\ud800',
    '\udc00',
  ].flatMap((id) =>
    ['threadId', 'runId'].map((field) => ({
      name: `${field} ${id === undefined ? 'missing' : JSON.stringify(id).slice(0, 30)}`,
      body: inputOf({ [field]: id }),
    })),
  ),
  ...['', 'x'.repeat(257), 7, 'a\rb'].map((id) => ({
    body: inputOf({ parentRunId: id }),
    name: `parentRunId ${id}`,
  })),
  ...[undefined, null, {}, 'hi', 7, [null], ['hi'], [[]], [7]].map((messages) => ({
    name: `messages ${messages === undefined ? 'missing' : JSON.stringify(messages)}`,
    body: inputOf({ messages }),
  })),
  ...[
    { role: 'user', content: 'no id' },
    { id: 7, role: 'user', content: 'hi' },
    { id: '', role: 'user', content: 'hi' },
    { id: 'a\u0000b', role: 'user', content: 'hi' },
    { id: 'x'.repeat(257), role: 'user', content: 'hi' },
    { id: 'm', content: 'no role' },
    { id: 'm', role: 7, content: 'hi' },
    { id: 'm', role: 'user' },
    { id: 'm', role: 'user', content: 7 },
    { id: 'm', role: 'user', content: { type: 'text', text: 'hi' } },
    { id: 'm', role: 'user', content: ['hi'] },
    { id: 'm', role: 'system', content: null },
    { id: 'm', role: 'tool', content: 'no call' },
    { id: 'm', role: 'tool', content: 'hi', toolCallId: '' },
    { id: 'm', role: 'tool', content: 'hi', toolCallId: 'c\n' },
    { id: 'm', role: 'assistant', toolCalls: {} },
    { id: 'm', role: 'assistant', toolCalls: [{ id: 'c', type: 'function' }] },
    {
      id: 'm',
      role: 'assistant',
      toolCalls: [{ id: 'c', type: 'function', function: { name: 't', arguments: {} } }],
    },
    {
      id: 'm',
      role: 'assistant',
      toolCalls: [{ id: '', type: 'function', function: { name: 't', arguments: '' } }],
    },
  ].map((message) => ({
    name: `message ${JSON.stringify(message).slice(0, 100)}`,
    body: inputOf({ messages: [user, message] }),
  })),
  {
    name: 'too many messages',
    body: inputOf({ messages: Array.from({ length: 51 }, (_, n) => ({ ...user, id: `m-${n}` })) }),
  },
  ...[
    {},
    'x',
    [null],
    [{}],
    [{ ...tool, name: 7 }],
    [{ ...tool, name: '' }],
    [{ ...tool, name: 'a\nb' }],
  ].map((tools) => ({
    name: `tools ${JSON.stringify(tools)}`,
    body: inputOf({ tools }),
  })),
  { name: 'too many tools', body: inputOf({ tools: Array.from({ length: 6 }, () => tool) }) },
  ...[{}, 'x', [null], [{ description: 'no value' }], [{ description: 7, value: '' }]].map((context) => ({
    name: `context ${JSON.stringify(context)}`,
    body: inputOf({ context }),
  })),
  {
    name: 'too much context',
    body: inputOf({ context: Array.from({ length: 1001 }, () => ({ description: '', value: '' })) }),
  },
  ...[
    {},
    'x',
    [null],
    [{ status: 'resolved' }],
    [{ interruptId: 'i' }],
    [{ ...entry, interruptId: 7 }],
    [{ ...entry, interruptId: '' }],
    [{ ...entry, status: 'maybe' }],
  ].map((resume) => ({ name: `resume ${JSON.stringify(resume)}`, body: inputOf({ resume }) })),
  { name: 'too many answers', body: inputOf({ resume: Array.from({ length: 1001 }, () => entry) }) },
  ...[7, {}].map((version) => ({
    name: `protocolVersion ${JSON.stringify(version)}`,
    body: inputOf({ protocolVersion: version }),
  })),
  { name: 'a number without a value', body: goodText.replace('"state":{}', '"state":{"n":1e999}') },
  { name: 'two thread ids', body: goodText.replace('"threadId":"bad"', '"threadId":"bad","threadId":7') },
].map((one) => ({ ...one, status: 400, code: 'INVALID_INPUT' }))

export const versions: readonly Refused[] = ['0.9', '2.0', '99.1', '2'].map((version) => ({
  name: `protocol ${version}`,
  body: inputOf({ protocolVersion: version }),
  ...{ status: 400, code: 'UNSUPPORTED_PROTOCOL' },
}))
