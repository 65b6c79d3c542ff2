import type { Refused } from './request.js'

const path = '/agents/echo/state/kept'

const jsonPatches = [
  ...[
    { op: 'add', path: '/x', value: 1 },
    'text',
    null,
    [null],
    [7],
    [[]],
    [{}],
    [{ op: 'explode', path: '/count' }],
    [{ op: 'ADD', path: '/x', value: 1 }],
    [{ path: '/x', value: 1 }],
    [{ op: 'add', value: 1 }],
    [{ op: 'add', path: '/x' }],
    [{ op: 'test', path: '/count' }],
    [{ op: 'replace', path: '/count' }],
    [{ op: 'add', path: 'x', value: 1 }],
    [{ op: 'add', path: 7, value: 1 }],
    [{ op: 'add', path: '/a~2', value: 1 }],
    [{ op: 'add', path: '#/x', value: 1 }],
    [{ op: 'move', path: '/x' }],
    [{ op: 'copy', path: '/x', from: 'count' }],
    [{ op: 'move', path: '/items/0/x', from: '/items' }],
    [{ op: 'replace', path: '', value: 'text' }],
    [{ op: 'add', path: '/plan', value: 'mine' }],
    [{ op: 'remove', path: '/plan' }],
    [{ op: 'add', path: '/ledger/x', value: 1 }],
    [{ op: 'test', path: '/ledger', value: 1 }],
    [{ op: 'copy', path: '/x', from: '/ledger' }],
    [{ op: 'add', path: '/user:name', value: 'root' }],
    [{ op: 'add', path: '/app:flags', value: {} }],
    [{ op: 'move', path: '/plan', from: '/count' }],
    [{ op: 'add', path: '/__proto__/admin', value: true }],
    [{ op: 'add', path: '/items/__proto__', value: [] }],
    [{ op: 'add', path: '/constructor/prototype/admin', value: true }],
    [{ op: 'copy', path: '/x', from: '/__proto__' }],
    [
      { op: 'replace', path: '/count', value: 2 },
      { op: 'explode', path: '/count' },
    ],
    Array.from({ length: 1001 }, () => ({ op: 'test', path: '/count', value: 1 })),
  ].map((patch) => ({ patch, status: 422, code: 'INVALID_PATCH' })),
  ...[
    [{ op: 'test', path: '/count', value: 2 }],
    [{ op: 'remove', path: '/nothing' }],
    [{ op: 'replace', path: '/nothing', value: 1 }],
    [{ op: 'add', path: '/nothing/below', value: 1 }],
    [{ op: 'copy', path: '/x', from: '/nothing' }],
    [{ op: 'remove', path: '/toString' }],
    [{ op: 'add', path: '/items/7', value: 'far' }],
    [{ op: 'add', path: '/items/x', value: 'no index' }],
    [{ op: 'remove', path: '/items/-' }],
    [{ op: 'add', path: '/count/x', value: 1 }],
    [
      { op: 'replace', path: '/count', value: 2 },
      { op: 'test', path: '/count', value: 1 },
    ],
  ].map((patch) => ({ patch, status: 409, code: 'PATCH_CONFLICT' })),
]

export const patches: readonly Refused[] = [
  ...jsonPatches.map(({ patch, ...refusal }) => ({
    name: `patch ${JSON.stringify(patch).slice(0, 90)}`,
    ...{ path, method: 'PATCH', body: JSON.stringify(patch), ...refusal },
  })),
  {
    name: 'a way to a prototype in a value',
    ...{ path, method: 'PATCH', body: '[{"op":"add","path":"/x","value":{"__proto__":{}}}]' },
    ...{ status: 400, code: 'INVALID_INPUT' },
  },
  { name: 'a patch that is cut off', path, method: 'PATCH', body: '[{', status: 400, code: 'INVALID_JSON' },
  {
    name: 'a patch of another type',
    ...{ path, method: 'PATCH', body: '[]', headers: { 'content-type': 'text/plain' } },
    ...{ status: 415, code: 'UNSUPPORTED_MEDIA_TYPE' },
  },
]
