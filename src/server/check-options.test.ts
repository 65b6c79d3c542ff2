import { expect, it } from 'vitest'
import { checkOptions } from './check-options.js'
import { defaultLimits, type Limits, type ServerOptions } from './contract.js'
import { createServer } from './create-server.js'
import { serve } from './node.js'

const agents = [{ name: 'a', description: '', run: () => raise() }] as const

const log = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined }

function raise(): never {
  throw new Error('not run')
}

it.each<[string, Partial<ServerOptions>]>([
  ['limits.runs', { limits: { runs: 0 } }],
  ['limits.bodyBytes', { limits: { bodyBytes: -1 } }],
  ['limits.waitMs', { limits: { waitMs: Number.NaN } }],
  ['threads.idleTimeoutMs', { threads: { idleTimeoutMs: -5 } }],
  ['limits.runs', { limits: { runs: (() => 5) as unknown as number } }],
  ['threads.idleTimeout', { threads: { idleTimeout: 5 } as ServerOptions['threads'] & object }],
  ['threads.onThreadRemoved', { threads: { onThreadRemoved: true as unknown as () => void } }],
  ['threads.sweepEveryMs', { threads: { sweepEveryMs: 0 } }],
  ['basePath', { basePath: 'api' }],
  ['basePath', { basePath: '/api/' }],
  ['trustProxy', { trustProxy: 0 }],
  ['trustProxy', { trustProxy: 1.5 }],
  ['trustProxy', { trustProxy: true as unknown as number }],
  ['limits.requestsPerUser', { limits: { requestsPerUser: 0 } }],
  ['cors.origins', { cors: { origins: ['app.example.com'] } }],
  ['cors.origins', { cors: { origins: ['https://app.example.com/path'] } }],
  ['cors.credentials', { cors: { origins: '*', credentials: true } }],
  ['onDisconnect', { onDisconnect: 'stop' as 'cancel' }],
  ['whenBusy', { whenBusy: 'queue' as 'wait' }],
  ['history', { history: 'both' as 'client' }],
  ['logErrors', { logErrors: 'all' as 'full' }],
  ['limits.bodybytes', { limits: { bodybytes: 1 } as Partial<Limits> }],
  ['stream.lanes', { stream: { lanes: 'one by one' as 'one-by-one' } }],
  ['hook', { hook: {} } as object],
  ['hooks.outputchange', { hooks: { outputchange: () => undefined } } as object],
  ['state.readonly', { state: { readonly: ['plan'] } } as object],
  ['stream.logfirst', { stream: { logfirst: true } } as object],
  ['cors.origin', { cors: { origin: '*' } } as object],
  ['copilotKit.path', { copilotKit: { path: '/kit' } } as object],
  ['routes.threads', { routes: { threads: false } } as object],
  ['routes.patch', { routes: { patch: 'no' } } as object],
])('refuses a %s that cannot be meant', (option, options) => {
  expect(() => checkOptions({ agents, ...options })).toThrow(
    expect.objectContaining({ code: 'INVALID_OPTIONS', details: { option } }),
  )
})

it.each([
  ['hook', {}, '`hook` is not an option. Did you mean `hooks`?'],
  ['whenbusy', 'wait', '`whenbusy` is not an option. Did you mean `whenBusy`?'],
  ['limits', { runPerUser: 1 }, '`limits.runPerUser` is not an option. Did you mean `runsPerUser`?'],
  [
    'hooks',
    { outputChanged: () => undefined },
    '`hooks.outputChanged` is not an option. Did you mean `outputChange`?',
  ],
  ['state', { hidden: ['x'] }, '`state.hidden` is not an option. Known are readOnly, private.'],
])('names what is most like an unknown member of %s', (name, value, message) => {
  expect(() => createServer({ agents, log, [name]: value })).toThrow(message)
})

it('takes options that can be meant', () => {
  expect(() =>
    checkOptions({
      agents,
      limits: { runs: 5, runTimeoutMs: Infinity },
      threads: { idleTimeoutMs: 1, onThreadRemoved: () => undefined },
      trustProxy: 1,
      basePath: '/api/v1',
      cors: { origins: ['https://app.example.com', 'http://localhost:3000'], credentials: true },
    }),
  ).not.toThrow()
  expect(() => checkOptions({ agents, cors: { origins: '*' } })).not.toThrow()
})

it('gives a limit that is undefined its default, and Node whole milliseconds', async () => {
  const given = { runs: undefined, leaseMs: undefined, headersTimeoutMs: 1500.5 }
  const server = createServer({ agents, limits: given as unknown as Partial<Limits>, log })
  expect(server.limits).toEqual({ ...defaultLimits, headersTimeoutMs: 1500.5 })
  await (await serve(server, { port: 0, signals: false })).close()
})
