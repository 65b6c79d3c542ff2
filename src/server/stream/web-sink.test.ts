import { getEventListeners } from 'node:events'
import { describe, expect, test } from 'vitest'
import { settled } from '../../../test/support/run-agent.js'
import { createWebSink } from './web-sink.js'

async function textOf(body: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(body).text()
}

/** Writes until there is no room, and gives how often that was. */
function fill({ write }: { readonly write: (chunk: string) => boolean }): number {
  for (let count = 1; count < 1000; count++) if (!write('x')) return count
  throw new Error('It takes everything.')
}

describe('a Web stream', () => {
  test('gets text and bytes as they are written, and the end', async () => {
    const request = new AbortController()
    const { sink, body } = createWebSink(request.signal)
    sink.write('ä')
    sink.write(new Uint8Array([33]))
    sink.end()
    expect(await textOf(body)).toBe('ä!')
    expect(sink.gone.aborted).toBe(false)
    expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
  })

  test('has room again when something was read', async () => {
    const { sink, body } = createWebSink(new AbortController().signal)
    const count = fill({ write: (chunk) => sink.write(chunk) })
    let isDrained = false
    const drained = sink.drained().then(() => (isDrained = true))
    await settled()
    expect(isDrained).toBe(false)
    const reader = body.getReader()
    for (let n = 0; n < count; n++) await reader.read()
    await drained
    expect(sink.write('y')).toBe(true)
  })

  test('has room at once when it was read before anybody waits', async () => {
    const { sink, body } = createWebSink(new AbortController().signal)
    const count = fill({ write: (chunk) => sink.write(chunk) })
    const reader = body.getReader()
    for (let n = 0; n < count; n++) await reader.read()
    await sink.drained()
    expect(sink.gone.aborted).toBe(false)
  })
})

describe('a reader that leaves', () => {
  test('by cancelling lets go of those who wait, and what is written then is nothing', async () => {
    const { sink, body } = createWebSink(new AbortController().signal)
    fill({ write: (chunk) => sink.write(chunk) })
    const drained = sink.drained()
    await body.cancel()
    await drained
    expect(sink.gone.aborted).toBe(true)
    expect(sink.write('more')).toBe(true)
    expect(() => sink.end()).not.toThrow()
    expect(() => sink.destroy()).not.toThrow()
  })

  test('by aborting its request does too', async () => {
    const request = new AbortController()
    const { sink, body } = createWebSink(request.signal)
    fill({ write: (chunk) => sink.write(chunk) })
    const drained = sink.drained()
    request.abort(new Error('gone'))
    await drained
    expect(sink.gone.aborted).toBe(true)
    expect(() => sink.end()).not.toThrow()
    await expect(textOf(body)).rejects.toThrow('gone')
  })

  test('before the stream is there is gone from the start', async () => {
    const { sink, body } = createWebSink(AbortSignal.abort(new Error('gone')))
    expect(sink.gone.aborted).toBe(true)
    expect(sink.write('x')).toBe(true)
    await sink.drained()
    await expect(textOf(body)).rejects.toThrow('gone')
  })
})

test('a stream that is broken off fails for its reader, and lets go of the request', async () => {
  const request = new AbortController()
  const { sink, body } = createWebSink(request.signal)
  const reader = body.getReader()
  const read = reader.read()
  sink.destroy()
  await expect(read).rejects.toThrow('takes nothing')
  expect(sink.gone.aborted).toBe(true)
  expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
})
