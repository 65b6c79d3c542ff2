import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, linesOf, serveAgents, type ClientClass } from '../support/serve-agents.js'

interface Listed {
  readonly threadId: string
  readonly forkedFrom?: string
}

/** Three turns: user messages `One` to `Three`, answers `1` to `3`. Later answers count on. */
async function longTalk(Client: ClientClass) {
  const model = scriptedModel((_, index) => String(index + 1))
  const served = await serveAgents({ agents: [defineAgent({ name: 'talker', model })] })
  const talk = served.talk({ Client })
  const { client } = talk
  for (const content of ['One', 'Two', 'Three']) await talk.say(content)

  const messagesOf = async (thread: string): Promise<readonly Message[]> => {
    const { body } = await served.ask(`GET /message_snapshot/${encodeURIComponent(thread)}`)
    return (body as { messages: Message[] }).messages
  }
  const historyOf = async (thread: string) => linesOf(await messagesOf(thread))
  const forks = async (): Promise<readonly Listed[]> => {
    const { body } = await served.ask('GET /thread/list')
    return (body as { threads: Listed[] }).threads.filter(({ forkedFrom }) => forkedFrom !== undefined)
  }
  return { model, talk, client, messagesOf, historyOf, forks }
}

const whole = ['user: One', 'assistant: 1', 'user: Two', 'assistant: 2', 'user: Three', 'assistant: 3']

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  /** The thread is `lines` now, the client has the same, and what was there before is kept beside it. */
  async function expectFork(given: Awaited<ReturnType<typeof longTalk>>, lines: readonly string[]) {
    const { client, messagesOf, historyOf, forks, talk } = given
    expect(await historyOf('thread-1')).toEqual(lines)
    expect(client.messages).toEqual(await messagesOf('thread-1'))
    const [kept, ...more] = await forks()
    expect(more).toEqual([])
    expect(kept?.forkedFrom).toBe('thread-1')
    expect(await historyOf(kept?.threadId ?? '')).toEqual(whole)
    const forked = ofType(talk.streams.at(-1)?.events ?? [], 'CUSTOM')
    expect(forked).toMatchObject([{ name: 'millrace.forked', value: { threadId: kept?.threadId } }])
  }

  it('a list that ends with its last user message is answered anew', async () => {
    const given = await longTalk(Client)
    const { model, talk, client } = given
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    expect(linesOf(model.requests[3]?.messages ?? [])).toEqual(whole.slice(0, 5))
    await expectFork(given, [...whole.slice(0, 5), 'assistant: 4'])
  })

  it('a list that ends with an earlier user message is answered anew from there', async () => {
    const given = await longTalk(Client)
    const { talk, client } = given
    client.setMessages(client.messages.slice(0, 3))
    await talk.send()
    await expectFork(given, [...whole.slice(0, 3), 'assistant: 4'])
    // The thread goes on from there as any other.
    await talk.say('Three again')
    expect(await given.historyOf('thread-1')).toEqual([
      ...whole.slice(0, 3),
      'assistant: 4',
      'user: Three again',
      'assistant: 5',
    ])
    expect(await given.forks()).toHaveLength(1)
  })

  it('a message that is edited under a new id replaces what came after it', async () => {
    const given = await longTalk(Client)
    const { model, talk, client } = given
    client.setMessages(client.messages.slice(0, 4))
    await talk.say('Three, but better')
    const lines = [...whole.slice(0, 4), 'user: Three, but better']
    expect(linesOf(model.requests[3]?.messages ?? [])).toEqual(lines)
    await expectFork(given, [...lines, 'assistant: 4'])
  })

  it('a message that is edited under its own id replaces what came after it', async () => {
    const given = await longTalk(Client)
    const { model, talk, client } = given
    const last = { ...client.messages[4], content: 'Three, but better' } as Message
    client.setMessages([...client.messages.slice(0, 4), last])
    await talk.send()
    const lines = [...whole.slice(0, 4), 'user: Three, but better']
    expect(linesOf(model.requests[3]?.messages ?? [])).toEqual(lines)
    await expectFork(given, [...lines, 'assistant: 4'])
  })

  it('an edit in the middle cuts off the rest, also when the client still has it', async () => {
    const given = await longTalk(Client)
    const { model, talk, client } = given
    client.setMessages(
      client.messages.map((message, n) =>
        n === 2 ? ({ ...message, content: 'Second' } as Message) : message,
      ),
    )
    await talk.send()
    const lines = [...whole.slice(0, 2), 'user: Second']
    expect(linesOf(model.requests[3]?.messages ?? [])).toEqual(lines)
    await expectFork(given, [...lines, 'assistant: 4'])
  })

  it('two regenerations keep both answers', async () => {
    const { talk, client, historyOf, forks } = await longTalk(Client)
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    expect((await historyOf('thread-1')).at(-1)).toBe('assistant: 5')
    const kept = await Promise.all((await forks()).map(({ threadId }) => historyOf(threadId)))
    expect(kept.map((lines) => lines.at(-1)).toSorted()).toEqual(['assistant: 3', 'assistant: 4'])
  })

  it('a kept thread can be talked on', async () => {
    const { talk, client, historyOf, forks } = await longTalk(Client)
    client.setMessages(client.messages.slice(0, -1))
    await talk.send()
    const [kept] = await forks()
    client.threadId = kept?.threadId ?? ''
    client.setMessages([])
    await talk.say('Four')
    expect(await historyOf(client.threadId)).toEqual([...whole, 'user: Four', 'assistant: 5'])
    expect((await historyOf('thread-1')).at(-1)).toBe('assistant: 4')
  })

  it('a client that keeps only its last messages forks nothing', async () => {
    const { model, talk, client, historyOf, forks } = await longTalk(Client)
    client.setMessages(client.messages.slice(-2))
    await talk.say('Four')
    const lines = [...whole, 'user: Four', 'assistant: 4']
    expect(linesOf(model.requests[3]?.messages ?? [])).toEqual(lines.slice(0, -1))
    expect(await historyOf('thread-1')).toEqual(lines)
    expect(await forks()).toEqual([])
  })
})
