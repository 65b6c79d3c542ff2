import { askFor, inputOf, titleOf, type Refused, type Sent } from './request.js'

const both = ['', '/agents/echo'] as const

export const addresses: readonly Refused[] = [
  ...[
    '/nope',
    '/agents/echo',
    '/agents/echo/',
    '/agents/echo/nope',
    '/agents/echo/run/',
    '/agents/echo/run/x',
    '/AGENTS',
    '/agents//run',
    '/thread',
    '/state/',
    '/.env',
    '/agents/echo/thread/a/b',
  ].map((path) => ({ name: path, path, method: 'GET', status: 404, code: 'NOT_FOUND' })),
  ...['nobody', '__proto__', 'constructor', 'ECHO', 'echo%20', '%00', 'x'.repeat(10_000)].map((name) => ({
    name: `an agent called ${name.slice(0, 20)}`,
    path: `/agents/${name}/run`,
    body: inputOf(),
    ...{ status: 404, code: 'AGENT_NOT_FOUND' },
  })),
  ...[
    ['/healthz', 'GET'],
    ['/readyz', 'GET'],
    ['/metrics', 'GET'],
    ['/agents', 'GET'],
    ['/', 'POST'],
    ...both.flatMap((prefix) => [
      [`${prefix}/capabilities`, 'GET'],
      [`${prefix}/run`, 'POST'],
      [`${prefix}/connect`, 'POST'],
      [`${prefix}/cancel`, 'POST'],
      [`${prefix}/thread/list`, 'GET'],
      [`${prefix}/follow`, 'POST'],
      [`${prefix}/thread/kept`, 'PATCH, DELETE'],
      [`${prefix}/message_snapshot/kept`, 'GET'],
      [`${prefix}/state_snapshot/kept`, 'GET'],
      [`${prefix}/state/kept`, 'PATCH'],
    ]),
  ].flatMap(([path = '', allow = '']) =>
    ['PUT', 'OPTIONS', allow === 'GET' ? 'POST' : 'GET'].map((method) => ({
      name: `${method} ${path}`,
      ...{ path, method, allow, status: 405, code: 'METHOD_NOT_ALLOWED' },
    })),
  ),
]

export const threads: readonly Refused[] = [
  ...both
    .flatMap((prefix) => askFor('bad', prefix))
    .map((sent) => ({ ...sent, name: `${titleOf(sent)}: no such thread` })),
  ...askFor('kept', '/agents/other').map((sent) => ({
    ...sent,
    name: `${titleOf(sent)}: the thread of another agent`,
  })),
  ...['100% sure', '../kept', 'a/b', 'list', '会話', '__proto__', "'; DROP TABLE threads; --"].flatMap(
    (thread) =>
      askFor(thread, '').map((sent) => ({ ...sent, name: `${titleOf(sent)}: no thread ${thread}` })),
  ),
  ...askFor('kept', '').map((sent) => ({
    ...{ ...sent, on: 'shared' as const, headers: { 'x-user': 'bob' } },
    name: `${titleOf(sent)}: the thread of somebody else`,
  })),
].map((one) => ({ ...one, status: 404, code: 'THREAD_NOT_FOUND' }))

export const ids: readonly Refused[] = [
  ...both.flatMap((prefix) =>
    ['a\u0000b', 'a\nb', '\u007f', 'x'.repeat(257), 'x'.repeat(50_000)].flatMap((id) => askFor(id, prefix)),
  ),
  ...['%', '%zz', 'a%2', '%ff', '%ED%A0%80', '%C0%AF', '%E4%B8'].flatMap((broken) => [
    { path: `/message_snapshot/${broken}`, method: 'GET' },
    { path: `/agents/echo/state_snapshot/${broken}`, method: 'GET' },
    { path: `/agents/echo/state/${broken}`, method: 'PATCH', body: [] },
    { path: `/thread/${broken}`, method: 'DELETE' },
  ]),
  { path: '/agents/%zz/run', body: inputOf() },
  { path: '/agents/%ff/thread/list', method: 'GET' },
  ...['/connect', '/cancel'].flatMap((path) =>
    [
      null,
      [],
      'kept',
      {},
      { threadId: 7 },
      { threadId: '' },
      { threadId: null },
      { threadId: ['kept'] },
      { threadId: 'a\ud800' },
      { threadId: 'kept', runId: 7 },
      { threadId: 'kept', runId: '' },
    ].map((body) => ({ path, body: JSON.stringify(body) })),
  ),
].map((sent: Sent) => ({
  ...sent,
  name: `${titleOf(sent)} ${typeof sent.body === 'string' ? sent.body : ''}: a bad id`,
  ...{ status: 400, code: 'INVALID_INPUT' },
}))

export const queries: readonly Refused[] = [
  ...['0', '-1', 'x', '10000', '', '1.5', '1e2', '0x10', ' 5', '999999999999999999999', '5;', '²'].flatMap(
    (limit) => [
      `/thread/list?limit=${encodeURIComponent(limit)}`,
      `/agents/echo/message_snapshot/kept?limit=${encodeURIComponent(limit)}`,
    ],
  ),
  ...['', 'x', '!!!', 'bnVsbA', 'W10', 'WzEsMl0', 'eyJhIjoxfQ', 'x'.repeat(20_000)].map(
    (cursor) => `/agents/echo/thread/list?cursor=${cursor}`,
  ),
  ...['', 'nobody', '__proto__', '%00', 'x'.repeat(20_000)].map(
    (before) => `/message_snapshot/kept?before=${before}`,
  ),
].map((path) => ({ name: path.slice(0, 70), path, method: 'GET', status: 400, code: 'INVALID_INPUT' }))

export const positions: readonly Refused[] = [
  ...[
    'garbage',
    'kept-1',
    'kept-1:',
    ':1',
    'kept-1:-1',
    'kept-1:1.5',
    'kept-1:x',
    'kept-1:01',
    '%zz:1',
    'kept-1:1e3',
    `${'x'.repeat(5000)}:1`,
  ].map((id) => ({
    name: `Last-Event-ID ${id.slice(0, 30)}`,
    path: '/connect',
    headers: { 'last-event-id': id },
    body: { threadId: 'kept' },
    ...{ status: 400, code: 'INVALID_INPUT' },
  })),
  {
    name: 'a run id that is a number',
    path: '/agents/echo/connect',
    body: { threadId: 'kept', runId: 5 },
    ...{ status: 400, code: 'INVALID_INPUT' },
  },
]
