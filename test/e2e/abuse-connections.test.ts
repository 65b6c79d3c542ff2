import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { linesOf, serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { connectRaw, headOf, type RawConnection } from './support-sockets.js'

const agent = defineAgent({ name: 'talker', model: scriptedModel(() => 'Fine.') })

/** Sends a little, again and again, until the connection is closed. */
async function drip(connection: RawConnection, next: () => string): Promise<string> {
  const timer = setInterval(() => connection.send(next()), 10)
  try {
    return await connection.closed
  } finally {
    clearInterval(timer)
  }
}

async function expectService(served: ServedAgents): Promise<void> {
  const talk = served.talk({ threadId: 'neutral' })
  await talk.say('How are you?')
  expect(linesOf(talk.client.messages).slice(-2)).toEqual(['user: How are you?', 'assistant: Fine.'])
}

describe('a connection', () => {
  it('that never sends a byte is closed', async () => {
    const served = await serveAgents({ agents: [agent], limits: { headersTimeoutMs: 100 } })
    const bare = await Promise.all(Array.from({ length: 50 }, () => connectRaw(served.url)))
    await expectService(served)
    await Promise.all(bare.map(({ closed }) => closed))
    await expectService(served)
  })

  it('that sends its headers byte by byte is closed', async () => {
    const served = await serveAgents({ agents: [agent], limits: { headersTimeoutMs: 100 } })
    const connection = await connectRaw(served.url)
    connection.send('POST /run HTTP/1.1\r\nhost: 127.0.0.1\r\n')
    await expectService(served)
    expect(await drip(connection, () => 'x: y\r\n')).toContain('408')
  })

  it('that sends its next headers byte by byte is closed too', async () => {
    const served = await serveAgents({ agents: [agent], limits: { headersTimeoutMs: 100 } })
    const connection = await connectRaw(served.url)
    connection.send(headOf('GET /agents'))
    await connection.answered
    connection.send('GET /agents HTTP/1.1\r\n')
    expect(await drip(connection, () => 'x: y\r\n')).toContain('408')
  })

  it('that sends no next request is closed', async () => {
    const served = await serveAgents({ agents: [agent], limits: { keepAliveMs: 50 } })
    const connection = await connectRaw(served.url)
    connection.send(headOf('GET /agents'))
    expect(await connection.closed).toContain('"talker"')
  })

  it.each([
    ['of a declared length', headOf('POST /run', { length: 5_000_000 }), () => ' '],
    ['in chunks', headOf('POST /run', { headers: { 'transfer-encoding': 'chunked' } }), () => '1\r\n \r\n'],
  ])('that sends a body %s byte by byte is refused and closed', async (_, head, next) => {
    const served = await serveAgents({ agents: [agent], limits: { bodyTimeoutMs: 100 } })
    const connection = await connectRaw(served.url)
    connection.send(head)
    const text = await drip(connection, next)
    expect(text).toContain('"INVALID_JSON"')
    expect(text).toContain('did not arrive within 100 ms')
    await expectService(served)
  })

  it('too many from one address is closed, and other addresses are served', async () => {
    const served = await serveAgents({ agents: [agent], limits: { connectionsPerAddress: 3 } })
    const hoard = await Promise.all([1, 2, 3].map(() => connectRaw(served.url, '127.0.0.2')))
    const refused = await connectRaw(served.url, '127.0.0.2')
    expect(await refused.closed).toBe('')
    expect(hoard.map(({ isOpen }) => isOpen)).toEqual([true, true, true])
    await expectService(served)
    hoard[0]?.destroy()
    await hoard[0]?.closed
    // The server sees the end after the client does.
    let next = await connectRaw(served.url, '127.0.0.2')
    next.send(headOf('GET /healthz'))
    while ((await Promise.race([next.answered, next.closed])) === '') {
      next = await connectRaw(served.url, '127.0.0.2')
      next.send(headOf('GET /healthz'))
    }
    expect(await next.answered).toContain('"ok"')
  })
})

it('a stream may be open for longer than a request may take', async () => {
  const slow = defineAgent({
    name: 'talker',
    model: scriptedModel(() => [{ wait: () => new Promise((resolve) => setTimeout(resolve, 500)) }, 'Fine.']),
  })
  const limits = { headersTimeoutMs: 50, bodyTimeoutMs: 50, keepAliveMs: 50 }
  await expectService(await serveAgents({ agents: [slow], limits }))
})
