import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/models/index.js'
import { deadAddress } from './loopback.js'
import { deferred } from './support-models-fake.js'
import { partsOf, request } from './support-models-parts.js'
import { clients, connect, speaking, startMock, type Api } from './support-models-providers.js'
import { beginnings, beginStream, frame, serveOrigin } from './support-models-sse.js'

const errorOf = (model: Model) =>
  partsOf(model).then(
    () => undefined,
    (error: unknown) => error,
  )

/** Reads until the word `Hel` has come. */
async function readHel(model: Model, signal?: AbortSignal) {
  const reader = model.stream(request(signal && { signal }))[Symbol.asyncIterator]()
  expect(await reader.next()).toEqual({ done: false, value: { type: 'text-delta', delta: 'Hel' } })
  return reader
}

/** Serves the beginning of an answer, and tells when the client closes the connection. */
async function serveBeginning(api: Api) {
  const closed = deferred<string>()
  const origin = await serveOrigin((_request, response) => {
    beginStream(response).write(beginnings[api])
    response.on('close', () => {
      closed.resolve(response.writableFinished ? 'after the end' : 'before the end')
    })
  })
  return { origin, closed: closed.promise }
}

describe.each(clients)('$name', { timeout: 10_000 }, (client) => {
  test('says how long to wait when there were too many requests', async () => {
    const mock = await startMock()
    mock.onMessage('hello', {
      error: { message: 'Slow down', type: 'rate_limit_error' },
      status: 429,
      retryAfter: 7,
    })
    expect(await errorOf(connect(client, mock.url).model)).toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringMatching(/HTTP 429.*Slow down/) as string,
      details: { status: 429, retryable: true, retryAfterMs: 7000 },
    })
  })

  test.each([
    [500, true],
    [503, true],
    [400, false],
    [401, false],
  ])('tells of status %i, and whether to try again: %s', async (status, retryable) => {
    const mock = await startMock()
    mock.onMessage('hello', { error: { message: 'No', type: 'some_error' }, status })
    const { model, bodies } = connect(client, mock.url)
    expect(await errorOf(model)).toMatchObject({ code: 'MODEL_ERROR', details: { status, retryable } })
    expect(bodies).toHaveLength(1)
  })

  test('may be tried again when nobody listens', async () => {
    const { origin } = new URL(await deadAddress())
    expect(await errorOf(connect(client, origin).model)).toMatchObject({
      code: 'MODEL_ERROR',
      details: { retryable: true },
    })
  })

  test('may be tried again when the line breaks in mid-answer', async () => {
    const broken = deferred<ServerResponse>()
    const origin = await serveOrigin((_request, response) => {
      beginStream(response).write(beginnings[client.api])
      broken.resolve(response)
    })
    const reader = await readHel(connect(client, origin).model)
    const next = reader.next()
    ;(await broken.promise).destroy()
    await expect(next).rejects.toMatchObject({ code: 'MODEL_ERROR', details: { retryable: true } })
  })

  test('lets go of the provider when the request is aborted', async () => {
    const { origin, closed } = await serveBeginning(client.api)
    const controller = new AbortController()
    const reader = await readHel(connect(client, origin).model, controller.signal)
    const next = reader.next()
    const reason = new Error('stopped by the user')
    controller.abort(reason)
    await expect(next).rejects.toBe(reason)
    expect(await closed).toBe('before the end')
  })

  test('lets go of the provider when nobody reads on', async () => {
    const { origin, closed } = await serveBeginning(client.api)
    const reader = await readHel(connect(client, origin).model)
    await reader.return?.()
    expect(await closed).toBe('before the end')
  })

  test('lets go of the provider while that has not begun to answer', async () => {
    const asked = deferred<ServerResponse>()
    const origin = await serveOrigin((_request, response) => {
      asked.resolve(response)
    })
    const controller = new AbortController()
    const stream = connect(client, origin).model.stream(request({ signal: controller.signal }))
    const pending = stream[Symbol.asyncIterator]().next()
    const closed = once(await asked.promise, 'close')
    controller.abort(new Error('stopped by the user'))
    await expect(pending).rejects.toThrow('stopped by the user')
    await closed
  })
})

test.each(speaking('chat', 'messages'))(
  '$name tells of an overloaded server in mid-answer',
  async (client) => {
    const error = { type: 'overloaded_error', message: 'Overloaded' }
    const origin = await serveOrigin((_request, response) => {
      const failure = frame(client.api === 'chat' ? ({ error } as object) : { type: 'error', ...{ error } })
      beginStream(response).end(beginnings[client.api] + failure)
    })
    const reader = await readHel(connect(client, origin).model)
    await expect(reader.next()).rejects.toMatchObject({
      code: 'MODEL_ERROR',
      message: expect.stringContaining('Overloaded') as string,
      details: { retryable: true },
    })
  },
)

test.each(clients.filter(({ name }) => name.includes('v4')))(
  '$name tells of an answer without an end',
  async (client) => {
    const origin = await serveOrigin((_request, response) => {
      beginStream(response).end(beginnings[client.api])
    })
    expect(await errorOf(connect(client, origin).model)).toMatchObject({
      message: 'The model broke off in the middle of its answer.',
      details: { retryable: true },
    })
  },
)
