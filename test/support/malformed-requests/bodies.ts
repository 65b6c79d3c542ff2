import { goodText, inputOf, jsonType, type Refused } from './request.js'

function lists(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth))
}

function objects(depth: number): unknown {
  return JSON.parse('{"a":'.repeat(depth) + '1' + '}'.repeat(depth))
}

function endless(): ReadableStream {
  return new ReadableStream({ pull: (controller) => controller.enqueue(new Uint8Array(10_000).fill(32)) })
}

export const bodies: readonly Refused[] = [
  ...[
    ['text', 'hello'],
    ['JSON that is cut off', goodText.slice(0, -5)],
    ['JSON with something behind it', `${goodText}x`],
    ['JSON in single quotes', "{'threadId':'bad'}"],
    ['JSON with a comment', `// hi\n${goodText}`],
    ['an empty body', ''],
    ['only a byte order mark', '\ufeff'],
    ['only space', ' \n '],
    ['NaN as a number', goodText.replace('"state":{}', '"state":{"n":NaN}')],
    ['an event stream', `data: ${goodText}\n\n`],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0xfe, 0x22)],
    ['UTF-16', new Uint8Array(Buffer.from(goodText, 'utf16le'))],
  ].map(([name, body]) => ({ name: name as string, body, status: 400, code: 'INVALID_JSON' })),
  ...['/', '/connect', '/agents/echo/cancel'].map((path) => ({
    name: `a form to ${path}`,
    ...{ path, body: 'threadId=kept', status: 400, code: 'INVALID_JSON' },
  })),
  { name: 'no body at all', headers: jsonType, status: 400, code: 'INVALID_JSON' },
  ...[
    'text/plain',
    'text/plain;charset=UTF-8',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'text/html',
    'application/octet-stream',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    '',
  ].map((type) => ({
    name: `a body of type '${type}'`,
    headers: { 'content-type': type },
    body: goodText,
    ...{ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  })),
  ...['gzip', 'br', 'x'].map((encoding) => ({
    name: `a body in ${encoding}`,
    headers: { 'content-encoding': encoding },
    body: Uint8Array.of(0x1f, 0x8b, 8, 0),
    ...{ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  })),
  {
    name: 'a body that says it is too large',
    headers: { 'content-length': '100001' },
    body: goodText,
    ...{ status: 413, code: 'PAYLOAD_TOO_LARGE' },
  },
  {
    name: 'a body that is larger than it says',
    headers: { 'content-length': '10' },
    body: goodText.padEnd(100_001),
    ...{ status: 413, code: 'PAYLOAD_TOO_LARGE' },
  },
  {
    name: 'a body that is too large',
    body: goodText.padEnd(100_001),
    status: 413,
    code: 'PAYLOAD_TOO_LARGE',
  },
  {
    name: '90,000 open brackets',
    body: '['.repeat(90_000),
    status: 400,
    code: 'INVALID_INPUT',
  },
  { name: 'a body without an end', body: endless(), status: 413, code: 'PAYLOAD_TOO_LARGE' },
]

export const depths: readonly Refused[] = [
  ['lists all the way down', lists(65)],
  ['objects all the way down', objects(65)],
  ['lists in the state', inputOf({ state: { deep: lists(63) } })],
  ['objects in forwardedProps', inputOf({ forwardedProps: objects(64) })],
  ['a deep schema of a tool', inputOf({ tools: [{ name: 't', description: '', parameters: objects(63) }] })],
  ['a deep member nobody knows', inputOf({ unknown: lists(64) })],
  ['a deep answer', inputOf({ resume: [{ interruptId: 'i', status: 'resolved', payload: lists(63) }] })],
  ['40,000 levels', `{"state":${'['.repeat(40_000)}${']'.repeat(40_000)}}`],
].map(([name, body]) => ({ name: name as string, body, status: 400, code: 'INVALID_INPUT' }))

export const prototypes: readonly Refused[] = [
  '{"__proto__":{"admin":true}}',
  goodText.replace('"state":{}', '"state":{"__proto__":{"admin":true}}'),
  goodText.replace('"state":{}', '"state":{"a":[{"__proto__":null}]}'),
  goodText.replace('"id":"m-1"', '"id":"m-1","metadata":{"__proto__":{}}'),
  goodText.replace('"state":{}', '"state":{},"__proto__":{"threadId":"x"}'),
  goodText.replace('"state":{}', '"state":{"\\u005f\\u005fproto__":1}'),
  goodText.replace('"state":{}', '"state":{"constructor":{"prototype":{"admin":true}}}'),
  goodText.replace('"tools":[]', '"forwardedProps":{"x":{"constructor":{"prototype":1}}}'),
].map((body, index) => ({
  name: `way ${index + 1} to a prototype`,
  body,
  status: 400,
  code: 'INVALID_INPUT',
}))
