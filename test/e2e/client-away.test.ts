import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { MillraceHttpAgent, withReconnect } from '../../src/client/ag-ui/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { serveAgents } from '../support/serve-agents.js'
import { clientOf, textsOf, until } from './support-client.js'
import { gatedAgent } from './support-gated.js'
import { cuttingProxy, type CuttingProxy } from './support-proxy.js'
import { historyOf } from './support-server.js'
import { hasLeft, lastRunOf, passTime, patientClock } from './support-stop.js'

/** Clients whose network is gone in the middle of an answer, for longer than the server waits for those that do not come back. */

const proxies = new Set<CuttingProxy>()

afterEach(async () => {
  const all = [...proxies]
  proxies.clear()
  for (const proxy of all) await proxy.close()
})

// Nobody listens there.
const nowhere = 'http://127.0.0.1:1'
const longerThanAbandoned = 120_000

/** A server whose time is the test's, behind a network that the test takes away and gives back. */
async function serveBehindProxy() {
  const gated = gatedAgent(['Good ', 'morning.'])
  const clock = patientClock()
  const served = await serveAgents({ agents: [gated.agent], clock })
  const proxy = await cuttingProxy(served.url, [])
  proxies.add(proxy)
  return {
    ...{ gated, clock, served, url: proxy.url },
    loseNetwork: async () => {
      proxy.target = nowhere
      proxy.dropAll()
      await hasLeft(served)
    },
    restoreNetwork: () => void (proxy.target = served.url),
  }
}

it('a run goes on while the thread of a client is away, and the client has all of it then', async () => {
  const { gated, clock, served, url, loseNetwork, restoreNetwork } = await serveBehindProxy()
  const thread = clientOf(url).thread('speaker', 't')
  const done = thread.send('Hello')
  gated.say(0)
  await until(thread, (snapshot) => textsOf(snapshot).includes('assistant: Good '))
  await loseNetwork()
  await clock.advance(longerThanAbandoned)
  expect(await lastRunOf(served)).toBe('running')
  gated.sayAll()
  await vi.waitFor(async () => expect(await lastRunOf(served)).toBe('completed'))
  expect(thread.getSnapshot().status).toBe('running')
  restoreNetwork()
  expect(await done).toMatchObject({ status: 'completed' })
  expect(textsOf(thread.getSnapshot())).toEqual(['user: Hello', 'assistant: Good morning.'])
  expect(await historyOf(served.url, 't')).toEqual(thread.getSnapshot().messages)
})

/** A stock client rejects a promise that nobody holds when its connection breaks: here its stream just ends. */
const endingFetch: HttpAgent['fetch'] = async (url, init) => {
  const response = await fetch(url, init)
  const reader = (response.body as ReadableStream<Uint8Array> | null)?.getReader()
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const read = await reader?.read().catch(() => undefined)
      if (read?.value) controller.enqueue(read.value)
      else controller.close()
    },
    cancel: (reason) => reader?.cancel(reason),
  })
  return new Response(body, response)
}

function startAgent(Agent: typeof HttpAgent, url: string, fetch?: HttpAgent['fetch']) {
  const agent = new Agent({ url: `${url}/agents/speaker/run`, threadId: 'thread-1' })
  if (fetch) agent.fetch = fetch
  agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
  const events: AgUiEvent[] = []
  agent.subscribe({ onEvent: ({ event }) => void events.push(event as AgUiEvent) })
  const input = { threadId: 'thread-1', runId: 'r', messages: [...agent.messages], tools: [], context: [] }
  const done = agent.runAgent({ runId: 'r' }).then(
    () => undefined,
    (error: unknown) => error,
  )
  const hasBegun = vi.waitFor(() =>
    expect(events.some(({ type }) => type === 'TEXT_MESSAGE_CONTENT')).toBe(true),
  )
  return { agent, events, input, done, hasBegun }
}

describe.each([
  ['1.0', MillraceHttpAgent],
  ['0.0.59', withReconnect(OldHttpAgent) as unknown as typeof HttpAgent],
] as const)('an HttpAgent of %s that reconnects', (_, Agent) => {
  it('keeps its run while it is away, and has all of it then', async () => {
    const { gated, clock, served, url, loseNetwork, restoreNetwork } = await serveBehindProxy()
    const { agent, events, input, done, hasBegun } = startAgent(Agent, url)
    gated.say(0)
    await hasBegun
    await loseNetwork()
    await clock.advance(longerThanAbandoned)
    expect(await lastRunOf(served)).toBe('running')
    gated.sayAll()
    await vi.waitFor(async () => expect(await lastRunOf(served)).toBe('completed'))
    restoreNetwork()
    expect(await done).toBeUndefined()
    assertValidStream(events, { input })
    expect(agent.messages.map(({ content }) => content)).toEqual(['Hello', 'Good morning.'])
  })
})

describe.each([
  ['1.0', HttpAgent],
  ['0.0.59', OldHttpAgent as unknown as typeof HttpAgent],
] as const)('a stock HttpAgent of %s', (_, Agent) => {
  it('loses its run when it is away: it could not come back', async () => {
    const { gated, clock, served, url, loseNetwork } = await serveBehindProxy()
    const { events, input, done, hasBegun } = startAgent(Agent, url, endingFetch)
    gated.say(0)
    await hasBegun
    await loseNetwork()
    await done
    await clock.advance(14_999)
    expect(await lastRunOf(served)).toBe('running')
    const cancelled = vi.waitFor(async () => expect(await lastRunOf(served)).toBe('cancelled'))
    await passTime(clock, cancelled)
    assertValidStream(events, { complete: false, input })
  })
})
