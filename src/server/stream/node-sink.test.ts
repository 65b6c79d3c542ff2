import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { connect, type AddressInfo, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { deferred } from '../../../test/support/run-agent.js'
import { createNodeSink } from './node-sink.js'

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

test('what is written arrives, with the end', async () => {
  const { response, client } = await exchange()
  const sink = createNodeSink(response)
  const closed = once(response, 'close')
  expect(sink.write('one ')).toBe(true)
  sink.write(new TextEncoder().encode('two'))
  sink.end()
  const text = await textUntil(client, '0\r\n\r\n')
  expect(text).toContain('one ')
  expect(text).toContain('two')
  await closed
  expect(sink.gone.aborted).toBe(false)
})

test('a client that reads nothing makes it full, and one that goes on reading makes room', async () => {
  const { response, client } = await exchange()
  const sink = createNodeSink(response)
  client.pause()
  let isFull = false
  for (let n = 0; n < 20; n++) isFull = !sink.write(large)
  expect(isFull).toBe(true)
  const drained = sink.drained()
  client.resume()
  await drained
  expect(response.writableNeedDrain).toBe(false)
  expect(sink.gone.aborted).toBe(false)
})

test('a client that breaks off is gone, and those who wait for room are let go', async () => {
  const { response, client } = await exchange()
  const sink = createNodeSink(response)
  client.pause()
  for (let n = 0; n < 20; n++) sink.write(large)
  const drained = sink.drained()
  client.destroy()
  await drained
  expect(sink.gone.aborted).toBe(true)
  sink.write('more')
  await sink.drained()
})

test('a client that has left before the sink is made is gone from the start', async () => {
  const { response, client } = await exchange()
  client.destroy()
  await once(response, 'close')
  const sink = createNodeSink(response)
  expect(sink.gone.aborted).toBe(true)
})

test('breaking off closes the socket', async () => {
  const { response, client } = await exchange()
  const sink = createNodeSink(response)
  client.resume()
  sink.write('half')
  sink.destroy()
  await once(client, 'close')
  expect(sink.gone.aborted).toBe(true)
})
