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

  it('stops the run on the server with abortRun, keeps what was said, and takes the next message', async () => {
    const { say, server, made } = await begin([])
    const agent = made()
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    const seen: AgUiEvent[] = []
    agent.subscribe({ onEvent: ({ event }) => void seen.push(event as AgUiEvent) })
    const errors: unknown[] = []
    agent.subscribe({ onRunFailed: ({ error }) => void errors.push(error) })
    const isBegun = deferred()
    onWord(agent, 'Good ', () => isBegun.resolve())
    say(0)
    const done = agent.runAgent({})
    await isBegun.promise
    agent.abortRun()
    // At once, as people do.
    agent.addMessage({ id: 'u2', role: 'user', content: 'And now?' })
    await Promise.all([done, agent.runAgent({})])
    expect(errors).toEqual([])
    // Clients before 1.0 know no cancelled run: they get the code of an abort.
    expect(seen.filter((event) => event.type === 'RUN_ERROR' && event.code !== 'abort')).toEqual([])
    const stored = (await historyOf(server.url)).map(({ content }) => content)
    expect(stored).toEqual(['Hello', 'Good ', 'And now?', 'Answer 2.'])
  })

  it('ends the run here with abortRun when the server cannot be asked', async () => {
    const { say, proxy, made } = await begin([])
    const agent = made()
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    onWord(agent, 'Good ', () => {
      proxy.target = 'http://127.0.0.1:1'
      proxy.dropAll()
      agent.abortRun()
    })
    say(0)
    await agent.runAgent({})
    expect(agent.isRunning).toBe(false)
    expect(agent.messages.at(-1)?.content).toBe('Good ')
  })

  it('connects to a thread that does not exist, as to an empty one that keeps what the page has', async () => {
    const { sayAll, made } = await begin([])
    const agent = made()
    agent.setMessages([{ id: 'hello', role: 'assistant', content: 'Hello, I am the page.' }])
    await agent.connectAgent({})
    expect(agent.messages.map(({ id }) => id)).toEqual(['hello'])
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    sayAll()
    await agent.runAgent({})
    expect(agent.messages.at(-1)?.content).toBe('Good morning, dear friend.')
  })

  it('loads a thread at rest over connections that break anywhere', async () => {
    const { sayAll, made, server } = await begin([])
    const first = made()
    first.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    sayAll()
    await first.runAgent({})
    for (const down of [250, 400, 500, 600, 700]) {
      const proxy = await cuttingProxy(server.url, [{ up: Infinity, down }])
      proxies.add(proxy)
      const agent = new Agent({ url: `${proxy.url}/agents/speaker/run`, threadId: 'thread-1' })
      const seen: AgUiEvent[] = []
      agent.subscribe({ onEvent: ({ event }) => void seen.push(event as AgUiEvent) })
      await agent.connectAgent({})
      expect(proxy.cuts, `cut after ${down} bytes`).toBe(1)
      expect(agent.messages).toEqual(first.messages)
      expect(seen.filter(({ type }) => type === 'RUN_STARTED')).toHaveLength(1)
    }
  })

  it('stops the run that it follows, which is not its own', async () => {
    const { say, server, made } = await begin([])
    const agent = made()
    const other = made()
    agent.addMessage({ id: 'u1', role: 'user', content: 'Hello' })
    onWord(agent, 'Good ', () => agent.abortRun())
    say(0)
    await agent.runAgent({}).catch(() => undefined)
    await expect.poll(async () => (await listed(server.url))?.lastRun?.status).toBe('cancelled')
    const { agent: speaker, say: sayToo } = gatedAgent(['One, ', 'two.'])
    const second = await serving({ agents: [speaker] })
    for (const each of [agent, other]) each.url = `${second.url}/agents/speaker/run`
    other.addMessage({ id: 'u2', role: 'user', content: 'Count.' })
    const begun = deferred()
    onWord(other, 'One, ', () => begun.resolve())
    const counting = other.runAgent({})
    sayToo(0)
    await begun.promise
    // The agent that has run and was stopped before follows the run of the other.
    onWord(agent, 'One, ', () => agent.abortRun())
    await agent.connectAgent({}).catch(() => undefined)
    await counting
    expect((await listed(second.url))?.lastRun?.status).toBe('cancelled')
  })
})
