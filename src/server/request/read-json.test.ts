import { expect, test } from 'vitest'
import { createServerContext } from '../../../test/support/server-context.js'
import { manualClock, type ManualClock } from '../../core/clock.js'
import type { MillraceError } from '../../core/errors.js'
import { defaultLimits, type Limits } from '../contract.js'
import { readJson } from './read-json.js'

const limits = { ...defaultLimits, bodyBytes: 1000, bodyTimeoutMs: 5000, jsonDepth: 8 }

interface Sent {
  readonly headers?: Record<string, string>
  readonly body?: string | Uint8Array<ArrayBuffer> | ReadableStream
}

function requestOf({ headers = { 'content-type': 'application/json' }, body = '{}' }: Sent): Request {
  const request = new Request('http://localhost/', { method: 'POST', body, duplex: 'half' })
  request.headers.delete('content-type')
  for (const [name, value] of Object.entries(headers)) request.headers.set(name, value)
  return request
}

const owner = { app: 'default', user: 'ann' }

function readWith(
  request: Request,
  given: { readonly limits: Limits; readonly clock: ManualClock },
): Promise<unknown> {
  return readJson(request, owner, createServerContext(given).server)
}

function read(sent: Sent): Promise<unknown> {
  return readWith(requestOf(sent), { limits, clock: manualClock() })
}

const json = { 'content-type': 'application/json' }

test.each([
  'application/json',
  'Application/JSON',
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"; v=1',
  'application/vnd.acme+json',
])('takes a body of type %s', async (type) => {
  await expect(read({ headers: { 'content-type': type }, body: '{"a":1}' })).resolves.toEqual({ a: 1 })
})

test.each([
  'text/plain',
  'text/plain; application/json',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=json',
  'application/jsonp',
  'application/+json',
  'text/json',
  'json',
  '',
  'application/json, text/plain',
  'application/json; charset=latin1',
  'application/json; charset=utf-8; charset=utf-16',
  'application/json; charset',
])('refuses a body of type "%s"', async (type) => {
  await expect(read({ headers: { 'content-type': type } })).rejects.toMatchObject({
    code: 'UNSUPPORTED_MEDIA_TYPE',
  })
})

test('refuses a body without a type, and one that is compressed', async () => {
  await expect(read({ headers: {} })).rejects.toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' })
  for (const encoding of ['gzip', 'br', 'identity, gzip']) {
    const headers = { ...json, 'content-encoding': encoding }
    await expect(read({ headers })).rejects.toMatchObject({ code: 'UNSUPPORTED_MEDIA_TYPE' })
  }
  await expect(read({ headers: { ...json, 'content-encoding': 'Identity' } })).resolves.toEqual({})
})

test('reads the same with and without a declared length', async () => {
  const body = JSON.stringify({ text: 'ä€😀' })
  const length = String(new TextEncoder().encode(body).byteLength)
  await expect(read({ body })).resolves.toEqual({ text: 'ä€😀' })
  await expect(read({ body, headers: { ...json, 'content-length': length } })).resolves.toEqual({
    text: 'ä€😀',
  })
})

test('puts together a body that comes byte by byte', async () => {
  const value = { text: 'ä€😀'.repeat(20) }
  const bytes = [...new TextEncoder().encode(JSON.stringify(value))]
  await expect(read({ body: streamOf(bytes.map((byte) => Uint8Array.of(byte))).stream })).resolves.toEqual(
    value,
  )
})

test('puts together a body that is larger than the buffer it begins with', async () => {
  const value = { text: 'x'.repeat(100_000) }
  const bytes = new TextEncoder().encode(JSON.stringify(value))
  const parts = [
    bytes.slice(0, 10),
    bytes.slice(10, 20_000),
    bytes.slice(20_000, 20_001),
    bytes.slice(20_001),
  ]
  const request = requestOf({ body: streamOf(parts).stream })
  await expect(readWith(request, { limits: defaultLimits, clock: manualClock() })).resolves.toEqual(value)
})

test('refuses a body by its declared length without reading it', async () => {
  const { stream, given } = streamOf([Uint8Array.of(123)])
  const request = requestOf({ body: stream, headers: { ...json, 'content-length': '1001' } })
  await expect(readWith(request, { limits, clock: manualClock() })).rejects.toMatchObject({
    code: 'PAYLOAD_TOO_LARGE',
  })
  expect(request.bodyUsed).toBe(false)
  expect(given()).toBeLessThanOrEqual(1)
})

test('takes a body of exactly the limit and refuses one byte more', async () => {
  const body = (size: number) => `"${'x'.repeat(size - 2)}"`
  for (const headers of [json, { ...json, 'content-length': '7' }]) {
    await expect(read({ headers, body: body(1000) })).resolves.toHaveLength(998)
    await expect(read({ headers, body: body(1001) })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  }
})

test('stops reading a stream once it is too large, also one that never ends', async () => {
  const { stream, given, cancelled } = streamOf(endless())
  await expect(read({ body: stream })).rejects.toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  expect(cancelled()).toBe(true)
  expect(given()).toBeLessThan(15)
})

test.each([json, { ...json, 'content-length': '500' }])(
  'gives up on a body that does not come in time, with headers %j',
  async (headers) => {
    const clock = manualClock()
    const { stream, cancelled } = streamOf([Uint8Array.of(123)], { stalls: true })
    const reading = readWith(requestOf({ body: stream, headers }), { limits, clock })
    const refused = expect(reading).rejects.toMatchObject({
      code: 'INVALID_JSON',
      message: 'The body did not arrive within 5000 ms.',
    })
    await clock.advance(4999)
    expect(clock.pending).toBe(1)
    await clock.advance(1)
    await refused
    expect(cancelled()).toBe(!('content-length' in headers))
  },
)

test('leaves no timer behind', async () => {
  const clock = manualClock()
  await readWith(requestOf({}), { limits, clock })
  await expect(readWith(requestOf({ body: '{' }), { limits, clock })).rejects.toThrow()
  expect(clock.pending).toBe(0)
})

test('says so when a body breaks off', async () => {
  const body = new ReadableStream({
    pull: (controller) => controller.error(new Error('ECONNRESET')),
  })
  const error = read({ body })
  await expect(error).rejects.toMatchObject({
    code: 'INVALID_JSON',
    message: 'The body broke off before its end.',
  })
})

test('blames the server when the body was read before', async () => {
  const request = requestOf({})
  await request.text()
  await expect(readWith(request, { limits, clock: manualClock() })).rejects.toMatchObject({
    code: 'INTERNAL_ERROR',
  })
})

test('allows a byte order mark', async () => {
  await expect(read({ body: '\ufeff{"a":1}' })).resolves.toEqual({ a: 1 })
})

test.each([
  ['', 'The body is empty.'],
  ['\ufeff', 'The body is empty.'],
  ['  \n', 'The body is not JSON: it ends too early.'],
  ['{"password":"hunter2"', 'The body is not JSON: it ends too early.'],
  ['{"password": hunter2}', 'The body is not JSON: see position 13.'],
  ['{} hunter2', 'The body is not JSON: see position 3.'],
])('says what is wrong with %j and nothing of what is in it', async (body, message) => {
  const error = (await read({ body }).catch((thrown: unknown) => thrown)) as MillraceError
  expect(error).toMatchObject({ code: 'INVALID_JSON', message })
  expect(error).not.toHaveProperty('cause')
})

test('says so when there is no body at all', async () => {
  const request = new Request('http://localhost/', { method: 'POST', headers: json })
  await expect(readWith(request, { limits, clock: manualClock() })).rejects.toMatchObject({
    message: 'The body is empty.',
  })
})

test('does not look for the fault in a very long text', async () => {
  const request = requestOf({ body: `["${'x'.repeat(1024 * 1024)}"` })
  await expect(readWith(request, { limits: defaultLimits, clock: manualClock() })).rejects.toMatchObject({
    message: 'The body is not JSON.',
  })
})

test('refuses bytes that are not UTF-8, and goes on well after that', async () => {
  for (const bytes of [
    [0x22, 0xff, 0x22],
    [0x22, 0xc3],
    [0x22, 0xed, 0xa0, 0x80, 0x22],
    [0x22, 0xc0, 0xaf, 0x22],
  ]) {
    await expect(read({ body: new Uint8Array(bytes) })).rejects.toMatchObject({
      code: 'INVALID_JSON',
      message: 'The body is not UTF-8.',
    })
  }
  await expect(read({ body: '"ä"' })).resolves.toBe('ä')
})

test('refuses what is nested too deeply or reaches for a prototype', async () => {
  await expect(read({ body: '['.repeat(9) + ']'.repeat(9) })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(read({ body: '{"__proto__":{}}' })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

/** A body that gives the parts one at a time, when asked, and tells what became of it. */
function streamOf(parts: Iterable<Uint8Array, undefined>, { stalls = false } = {}) {
  const source: Iterator<Uint8Array, undefined> = parts[Symbol.iterator]()
  let given = 0
  let cancelled = false
  const stream = new ReadableStream(
    {
      pull(controller) {
        const { done, value } = source.next()
        if (done !== true) controller.enqueue(value)
        else if (stalls) return new Promise<void>(() => undefined)
        else controller.close()
        given++
        return undefined
      },
      cancel() {
        cancelled = true
      },
    },
    { highWaterMark: 0 },
  )
  return { stream, given: () => given, cancelled: () => cancelled }
}

function* endless(): Generator<Uint8Array, undefined> {
  for (;;) yield new Uint8Array(100).fill(32)
}
