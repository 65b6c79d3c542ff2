import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { withReconnect } from '../../src/client/ag-ui/index.js'
import { manualClock } from '../../src/core/clock.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { clientOf, textsOf } from './support-client.js'
import { gatedAgent } from './support-gated.js'
import { cuttingProxy, type CuttingProxy } from './support-proxy.js'
import { historyOf, listed, serving } from './support-server.js'
import { passTime } from './support-stop.js'

/** Connections that stay open and carry nothing more, not even a heartbeat. */

const proxies = new Set<CuttingProxy>()

afterEach(async () => {
  const all = [...proxies]
  proxies.clear()
  for (const proxy of all) await proxy.close()
})

async function begin() {
  const gated = gatedAgent(['Good ', 'morning.'])
  const clock = manualClock(1_700_000_000_000)
  const server = await serving({ agents: [gated.agent], clock, limits: { heartbeatMs: 10_000 } })
  const proxy = await cuttingProxy(server.url, [])
  proxies.add(proxy)
  const hasEnded = (): Promise<void> =>
    vi.waitFor(async () => expect((await listed(server.url))?.lastRun?.status).toBe('completed'))
  return { ...gated, server, proxy, hasEnded, clock }
}

const classes = [
  ['1.0', HttpAgent],
  ['0.0.59', OldHttpAgent as unknown as typeof HttpAgent],
] as const

describe.each(classes)('an HttpAgent of %s whose connection is open but dead', (_, Base) => {
  async function startRun() {
    const begun = await begin()
    const { proxy, clock, say } = begun
    const Agent = withReconnect(Base, { clock, timeoutMs: 30_000, random: () => 1 })
    const agent = new Agent({ url: `${proxy.url}/agents/speaker/run`, threadId: 'thread-1' })
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    const events: AgUiEvent[] = []
    agent.subscribe({ onEvent: ({ event }) => void events.push(event as AgUiEvent) })
    const input = { threadId: 'thread-1', runId: 'r', messages: [...agent.messages], tools: [], context: [] }
    let isOver = false
    const done = agent.runAgent({ runId: 'r' }).finally(() => (isOver = true))
    say(0)
    await vi.waitFor(() => expect(events.some(({ type }) => type === 'TEXT_MESSAGE_CONTENT')).toBe(true))
    return { ...begun, agent, events, input, done, isOver: () => isOver }
  }

  it('notices it after `timeoutMs`, and has the rest over another one', async () => {
    const { agent, clock, done, events, input, isOver, sayAll, hasEnded, proxy, server } = await startRun()
    proxy.fallSilent()
    sayAll()
    await hasEnded()
    await clock.advance(29_000)
    expect(isOver()).toBe(false)
    await passTime(clock, done)
    assertValidStream(events, { input })
    expect(agent.messages.map(({ content }) => content)).toEqual(['Hello', 'Good morning.'])
    expect((await historyOf(server.url)).map(({ id }) => id)).toEqual(agent.messages.map(({ id }) => id))
    expect(clock.pending).toBe(0)
  })

  it('is not given up when its server has nothing to say but heartbeats', async () => {
    const { agent, clock, done, events, input, sayAll, proxy } = await startRun()
    const { opened } = proxy
    for (let beat = 0; beat < 4; beat++) {
      const { chunks } = proxy
      // A stream that has just carried something skips one.
      await clock.advance(20_000)
      await vi.waitFor(() => expect(proxy.chunks).toBeGreaterThan(chunks))
    }
    sayAll()
    await done
    assertValidStream(events, { input })
    expect(agent.messages.at(-1)?.content).toBe('Good morning.')
    expect(proxy.opened).toBe(opened)
  })
})

it('a thread of the client whose connection is open but dead has the rest over another one', async () => {
  const { clock, proxy, say, sayAll, hasEnded, server } = await begin()
  const thread = clientOf(proxy.url, { clock, timeoutMs: 30_000 }).thread('speaker', 'thread-1')
  const done = thread.send('Hello')
  say(0)
  await vi.waitFor(async () => {
    await clock.advance(0)
    expect(textsOf(thread.getSnapshot())).toContain('assistant: Good ')
  })
  proxy.fallSilent()
  sayAll()
  await hasEnded()
  expect(await passTime(clock, done)).toMatchObject({ status: 'completed' })
  expect(thread.getSnapshot().messages).toEqual(await historyOf(server.url))
})
