import { askFor, inputOf, titleOf, type Refused, type Sent } from './request.js'

/** Where who asks matters before anything else. */
export const everywhere: readonly Sent[] = [
  { body: inputOf() },
  { path: '/', body: 'not JSON' },
  { path: '/agents', method: 'GET' },
  { path: '/agents/nobody/capabilities', method: 'GET' },
  { path: '/thread/list', method: 'GET' },
  ...askFor('kept', '/agents/echo'),
]

export const strangers: readonly Refused[] = [
  ...[
    'evil.com',
    'localhost.evil.com',
    '127.0.0.1.evil.com',
    '0.0.0.0:3000',
    'localhost@evil.com',
    '192.168.0.1',
    '',
  ].map((host) => ({
    name: `a request to '${host}'`,
    host,
    body: inputOf(),
    status: 403,
    code: 'FORBIDDEN_HOST',
  })),
  ...everywhere.map((sent) => ({
    ...{ ...sent, host: 'evil.com', name: `${titleOf(sent)}: for another host` },
    ...{ status: 403, code: 'FORBIDDEN_HOST' },
  })),
  ...everywhere.map((sent) => ({
    ...{ ...sent, on: 'shared' as const, name: `${titleOf(sent)}: from nobody` },
    ...{ status: 401, code: 'UNAUTHENTICATED' },
  })),
  ...everywhere.map((sent) => ({
    ...{
      ...sent,
      on: 'shared' as const,
      headers: { 'x-user': 'broken' },
      name: `${titleOf(sent)}: nobody can tell`,
    },
    ...{ status: 500, code: 'INTERNAL_ERROR' },
  })),
]
