import { getEventListeners, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, onTestFinished, test } from 'vitest'
import { deferred, settled } from '../../../test/support/run-agent.js'
import { createWebSink, NodeSink } from './sink.js'

/** A response on a real socket, and the other end of it. */
async function exchange(): Promise<{ readonly response: ServerResponse; readonly client: Socket }> {
  const answered = deferred<ServerResponse>()
  const http = createServer((_, response) => {
    response.writeHead(200)
    response.flushHeaders()
    answered.resolve(response)
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const client = connect((http.address() as AddressInfo).port, '127.0.0.1')
  client.on('error', () => undefined)
  onTestFinished(() => {
    client.destroy()
    http.closeAllConnections()
    http.close()
  })
  client.write('POST / HTTP/1.1\r\nhost: localhost\r\ncontent-length: 0\r\n\r\n')
  return { response: await answered.promise, client }
}

async function textUntil(client: Socket, end: string): Promise<string> {
  let text = ''
  while (!text.includes(end)) text += String((await once(client, 'data'))[0])
  return text
}

const large = 'x'.repeat(1024 * 1024)

describe('on Node', () => {
  test('what is written arrives, with the end', async () => {
    const { response, client } = await exchange()
    const sink = new NodeSink(response)
    const closed = once(response, 'close')
    expect(sink.write('one ')).toBe(true)
    sink.write(new TextEncoder().encode('two'))
    sink.end()
    const text = await textUntil(client, '0\r\n\r\n')
    expect(text).toContain('one ')
    expect(text).toContain('two')
    await closed
    expect(sink.signal.aborted).toBe(false)
  })

  test('a client that reads nothing is behind, and one that reads on catches up', async () => {
    const { response, client } = await exchange()
    const sink = new NodeSink(response)
    client.pause()
    let isFull = false
    for (let n = 0; n < 20; n++) isFull = !sink.write(large)
    expect(isFull).toBe(true)
    const drained = sink.drained()
    client.resume()
    await drained
    expect(response.writableNeedDrain).toBe(false)
    expect(sink.signal.aborted).toBe(false)
  })

  test('a client that breaks off disconnects, and waits end', async () => {
    const { response, client } = await exchange()
    const sink = new NodeSink(response)
    client.pause()
    for (let n = 0; n < 20; n++) sink.write(large)
    const drained = sink.drained()
    client.destroy()
    await drained
    expect(sink.signal.aborted).toBe(true)
    sink.write('more')
    await sink.drained()
  })

  test('a client that left before counts as disconnected from the start', async () => {
    const { response, client } = await exchange()
    client.destroy()
    await once(response, 'close')
    const sink = new NodeSink(response)
    expect(sink.signal.aborted).toBe(true)
  })

  test('destroying it closes the socket', async () => {
    const { response, client } = await exchange()
    const sink = new NodeSink(response)
    client.resume()
    sink.write('half')
    sink.destroy()
    await once(client, 'close')
    expect(sink.signal.aborted).toBe(true)
  })
})

async function readAll(body: ReadableStream<Uint8Array>): Promise<string> {
  return new Response(body).text()
}

/** Writes until there is no room, and gives how often that was. */
function fill({ write }: { readonly write: (chunk: string) => boolean }): number {
  for (let count = 1; count < 1000; count++) if (!write('x')) return count
  throw new Error('It takes everything.')
}

describe('on a Web stream', () => {
  test('text and bytes arrive as they are written, with the end', async () => {
    const request = new AbortController()
    const { sink, body } = createWebSink(request.signal)
    sink.write('ä')
    sink.write(new Uint8Array([33]))
    sink.end()
    expect(await readAll(body)).toBe('ä!')
    expect(sink.signal.aborted).toBe(false)
    expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
  })

  test('a reader that reads on has room again', async () => {
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

  test('a reader that has caught up before anybody waits has room at once', async () => {
    const { sink, body } = createWebSink(new AbortController().signal)
    const count = fill({ write: (chunk) => sink.write(chunk) })
    const reader = body.getReader()
    for (let n = 0; n < count; n++) await reader.read()
    await sink.drained()
    expect(sink.signal.aborted).toBe(false)
  })

  test('a reader that cancels disconnects: waits end, and writes do nothing', async () => {
    const { sink, body } = createWebSink(new AbortController().signal)
    fill({ write: (chunk) => sink.write(chunk) })
    const drained = sink.drained()
    await body.cancel()
    await drained
    expect(sink.signal.aborted).toBe(true)
    expect(sink.write('more')).toBe(true)
    expect(() => sink.end()).not.toThrow()
    expect(() => sink.destroy()).not.toThrow()
  })

  test('so does one that aborts its request', async () => {
    const request = new AbortController()
    const { sink, body } = createWebSink(request.signal)
    fill({ write: (chunk) => sink.write(chunk) })
    const drained = sink.drained()
    request.abort(new Error('gone'))
    await drained
    expect(sink.signal.aborted).toBe(true)
    expect(() => sink.end()).not.toThrow()
    await expect(readAll(body)).rejects.toThrow('gone')
  })

  test('a request that was aborted before counts as disconnected from the start', async () => {
    const { sink, body } = createWebSink(AbortSignal.abort(new Error('gone')))
    expect(sink.signal.aborted).toBe(true)
    expect(sink.write('x')).toBe(true)
    await sink.drained()
    await expect(readAll(body)).rejects.toThrow('gone')
  })

  test('destroying it fails for the reader, and lets go of the request', async () => {
    const request = new AbortController()
    const { sink, body } = createWebSink(request.signal)
    const reader = body.getReader()
    const read = reader.read()
    sink.destroy()
    await expect(read).rejects.toThrow('takes nothing')
    expect(sink.signal.aborted).toBe(true)
    expect(getEventListeners(request.signal, 'abort')).toHaveLength(0)
  })
})
