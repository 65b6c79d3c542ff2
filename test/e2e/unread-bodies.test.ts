import { Agent, createServer as createHttpServer, request } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createServer } from '../../src/server/index.js'
import { createListener } from '../../src/server/node.js'
import { afterEachTest } from '../support/after-each-test.js'

const megabyte = 1024 * 1024
const headers = { 'content-type': 'application/json' }
const body = JSON.stringify({ text: 'x'.repeat(40 * megabyte) })
const nothing = (): void => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }
const open: (() => void)[] = []
afterEachTest(() => {
  for (const close of open.splice(0)) close()
})

/** Serves on a server of our own, which knows how much each connection has read. */
async function serveSmallBodies(): Promise<{ readonly port: number; readonly sockets: readonly Socket[] }> {
  const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })
  const server = createServer({ agents: [agent], log: silent, limits: { bodyBytes: 1000 } })
  const http = createHttpServer(createListener(server))
  const sockets: Socket[] = []
  http.on('connection', (socket) => sockets.push(socket))
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  open.push(() => {
    http.close()
    http.closeAllConnections()
    void server.close()
  })
  return { port: (http.address() as AddressInfo).port, sockets }
}

function postWithNode(port: number, text = body, agent?: Agent): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': text.length }
    const sent = request({
      ...{ host: '127.0.0.1', port, method: 'POST', path: '/run', agent },
      headers: { ...headers, ...length },
    })
    sent.once('response', (response) => {
      response.resume().once('close', () => resolve(response.statusCode))
    })
    sent.on('error', reject)
    sent.end(text)
  })
}

async function postWithFetch(port: number): Promise<number> {
  const { status } = await fetch(`http://127.0.0.1:${port}/run`, { method: 'POST', headers, body })
  return status
}

describe.each([
  ['node:http', (port: number) => postWithNode(port)],
  ['fetch', postWithFetch],
])('a body that is refused by its length, sent with %s', (_, post) => {
  it('is answered, is not read, and its connection is closed', async () => {
    const { port, sockets } = await serveSmallBodies()
    expect(await post(port)).toBe(413)
    await expect.poll(() => sockets[0]?.destroyed, { timeout: 10_000 }).toBe(true)
    expect(sockets[0]?.bytesRead).toBeLessThan(2 * megabyte)
  })
})

it('a client does not use the connection of a body that was refused again', async () => {
  const { port, sockets } = await serveSmallBodies()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  open.push(() => agent.destroy())
  // Small enough for the buffers between the two: the client takes it for sent.
  const sent = 'x'.repeat(300_000)
  for (let n = 0; n < 3; n++) expect(await postWithNode(port, sent, agent)).toBe(413)
  expect(sockets).toHaveLength(3)
})

it('a small body that is refused leaves its connection open for the next request', async () => {
  const { port, sockets } = await serveSmallBodies()
  for (let n = 0; n < 8; n++) {
    const small = { method: 'POST', headers, body: 'x'.repeat(2_000) }
    const response = await fetch(`http://127.0.0.1:${port}/run`, small)
    expect(response.status).toBe(413)
    await response.text()
  }
  // fetch may open a second one while the first is busy.
  expect(sockets.length).toBeLessThan(3)
})
