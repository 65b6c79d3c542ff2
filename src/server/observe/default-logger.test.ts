import { createRequire } from 'node:module'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { createDefaultLogger } from './default-logger.js'

const { cache } = createRequire(import.meta.url)
const loadedPino = () => Object.keys(cache).find((path) => /[\\/]pino[\\/]pino\.js$/.test(path))

function capture() {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>)
  return { lines, destination: { write } }
}

afterEach(() => {
  vi.unstubAllEnvs()
  vi.unstubAllGlobals()
})

test('is loaded when it is used, and not before', () => {
  // Another test of this process may have loaded it.
  Reflect.deleteProperty(cache, loadedPino() ?? '')
  const { lines, destination } = capture()
  const logger = createDefaultLogger({ destination })
  expect(loadedPino()).toBeUndefined()
  logger.info({ port: 8000 }, 'listening')
  expect(loadedPino()).toBeDefined()
  expect(lines).toMatchObject([{ name: 'millrace', level: 30, port: 8000, msg: 'listening' }])
})

describe('the level', () => {
  const levelsWritten = () => {
    const { lines, destination } = capture()
    const logger = createDefaultLogger({ destination })
    for (const level of ['debug', 'info', 'warn', 'error'] as const) logger[level]({}, level)
    return lines.map(({ msg }) => msg)
  }

  test.each([
    ['debug', ['debug', 'info', 'warn', 'error']],
    ['WARN', ['warn', 'error']],
    ['silent', []],
    ['', ['info', 'warn', 'error']],
    ['chatty', ['info', 'warn', 'error']],
    [undefined, ['info', 'warn', 'error']],
  ])('%j writes %j', (level, written) => {
    vi.stubEnv('LOG_LEVEL', level)
    expect(levelsWritten()).toEqual(written)
  })
})

test('credentials are redacted, and the rest of the facts is not', () => {
  const { lines, destination } = capture()
  const headers = { authorization: 'Bearer hush', cookie: 'sid=hush', accept: 'text/event-stream' }
  createDefaultLogger({ destination }).warn({ ...headers, headers }, 'refused')
  expect(JSON.stringify(lines)).not.toContain('hush')
  expect(lines).toMatchObject([{ accept: 'text/event-stream', headers: { accept: 'text/event-stream' } }])
})

test('errors are written with their stack', () => {
  const { lines, destination } = capture()
  createDefaultLogger({ destination }).error({ err: new Error('no room') }, 'failed')
  expect(lines).toMatchObject([
    { err: { type: 'Error', message: 'no room', stack: expect.any(String) as string } },
  ])
})

test('without a process it writes too, in order', async () => {
  const { lines, destination } = capture()
  vi.stubGlobal('process', undefined)
  const logger = createDefaultLogger({ destination })
  logger.info({}, 'one')
  vi.unstubAllGlobals()
  logger.warn({}, 'two')
  await vi.waitFor(() => expect(lines).toMatchObject([{ msg: 'one' }, { msg: 'two' }]))
})
