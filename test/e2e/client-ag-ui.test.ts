import { HttpAgent } from '@ag-ui/client'
import { HttpAgent as OldHttpAgent } from 'ag-ui-client-0.0.59'
import { afterEach, describe, expect, it } from 'vitest'
import { MillraceHttpAgent, withReconnect } from '../../src/client/ag-ui/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { deferred } from '../support/run-agent.js'
import { gatedAgent } from './support-gated.js'
import { cuttingProxy, type Cut, type CuttingProxy } from './support-proxy.js'
import { historyOf, listed, serving } from './support-server.js'

const classes = [
  ['1.0', MillraceHttpAgent],
  ['0.0.59', withReconnect(OldHttpAgent) as unknown as typeof HttpAgent],
] as const

const proxies = new Set<CuttingProxy>()

afterEach(async () => {
  const all = [...proxies]
  proxies.clear()
  for (const proxy of all) await proxy.close()
})

const whole = { up: Infinity, down: Infinity }

describe.each(classes)('the HttpAgent of %s', (_, Agent) => {
  async function begin(cuts: readonly Cut[]) {
    const gated = gatedAgent(['Good ', 'morning, ', 'dear ', 'friend.'])
    const server = await serving({ agents: [gated.agent] })
    const proxy = await cuttingProxy(server.url, cuts)
    proxies.add(proxy)
    const made = (): HttpAgent => new Agent({ url: `${proxy.url}/agents/speaker/run`, threadId: 'thread-1' })
    return { ...gated, server, proxy, made }
  }

  /** Calls back when the client is told of a word. */
  const onWord = (agent: HttpAgent, word: string, callback: () => void): void =>
    void agent.subscribe({
      onEvent: ({ event }) => {
        const { type, ...rest } = event as AgUiEvent
        if (type === 'TEXT_MESSAGE_CONTENT' && 'delta' in rest && rest.delta === word) callback()
      },
    })

  it('takes a broken stream up again, and has each word once', async () => {
    const { say, sayAll, server, proxy, made } = await begin([whole])
    const agent = made().clone()
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    const words: string[] = []
    const breaks = ['Good ', 'dear ']
    agent.subscribe({
      onTextMessageContentEvent({ event }) {
        words.push(event.delta)
        if (event.delta === breaks[0]) {
          breaks.shift()
          proxy.dropAll()
          say(words.length + 1)
          if (breaks.length === 0) sayAll()
        }
      },
    })
    say(0)
    await agent.runAgent({})
    expect(words).toEqual(['Good ', 'morning, ', 'dear ', 'friend.'])
    expect(agent.messages.map(({ content }) => content)).toEqual(['Hello', 'Good morning, dear friend.'])
    expect((await historyOf(server.url)).map(({ id }) => id)).toEqual(agent.messages.map(({ id }) => id))
  })

  it('loads a thread with connect, and follows its live run', async () => {
    const { say, sayAll, made } = await begin([])
    const first = made()
    first.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    const isHalf = deferred()
    onWord(first, 'morning, ', () => isHalf.resolve())
    const done = first.runAgent({})
    say(1)
    await isHalf.promise
    const second = made()
    onWord(second, 'morning, ', sayAll)
    await second.connectAgent({})
    await done
    expect(second.messages.map(({ content }) => content)).toEqual(['Hello', 'Good morning, dear friend.'])
    const third = made()
    await third.connectAgent({})
    expect(third.messages).toEqual(second.messages)
  })

  it('stops the run on the server with abortRun', async () => {
    const { say, server, made } = await begin([])
    const agent = made()
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    onWord(agent, 'Good ', () => agent.abortRun())
    say(0)
    await agent.runAgent({}).catch(() => undefined)
    const again = made()
    await again.connectAgent({}).catch(() => undefined)
    expect((await listed(server.url))?.lastRun?.status).toBe('cancelled')
  })
})
