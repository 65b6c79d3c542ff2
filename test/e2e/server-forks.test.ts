import type { Message } from '@ag-ui/core'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import { ofType } from '../support/run-agent.js'
import { ask, historyOf, inputOf, serving, temporaryFolder, user } from './support-server.js'
import { runWhole } from './support-stream.js'
import { linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'

const stores = ['memory', 'sqlite'] as const
const tools = [{ name: 'pick', description: 'Picks a colour.', parameters: { type: 'object' } }]

describe.each(stores)('what edits leave, with the store in %s', (store) => {
  async function serveTalker(options: Partial<ServeAgentsOptions> = {}) {
    const model = scriptedModel(({ messages }, index) => {
      const last = messages.at(-1)
      return last?.content === 'Pick.' ? [{ toolCall: { name: 'pick' } }] : `Answer ${index + 1}.`
    })
    const served = await serveAgents({ agents: [defineAgent({ name: 'talker', model })], store, ...options })
    const historyOf = async (thread: string) => {
      const { body } = await served.ask(`GET /message_snapshot/${encodeURIComponent(thread)}`)
      return (body as { messages: Message[] }).messages
    }
    const threads = async () => {
      const { body } = await served.ask('GET /thread/list')
      return (body as { threads: { threadId: string; status: string }[] }).threads
    }
    /** A client that says something, and then says it differently. Gives the id of what is kept. */
    const edit = async (threadId: string, before: string, after: string) => {
      const talk = served.talk({ threadId })
      const { client } = talk
      await talk.say(before, { tools })
      const [first] = client.messages
      client.setMessages([{ ...first, content: after } as Message])
      const events = await talk.send({ tools })
      const [forked] = ofType(events, 'CUSTOM')
      return (forked?.value as { threadId: string }).threadId
    }
    return { served, historyOf, threads, edit }
  }

  it('stay apart when a thread is removed and begun again under its id', async () => {
    const { served, historyOf, edit } = await serveTalker()
    const first = await edit('chat', 'First life.', 'First life, edited.')
    await served.ask('DELETE /thread/chat')
    const second = await edit('chat', 'Second life.', 'Second life, edited.')
    expect(linesOf(await historyOf(first))).toEqual(['user: First life.', 'assistant: Answer 1.'])
    expect(linesOf(await historyOf(second))).toEqual(['user: Second life.', 'assistant: Answer 3.'])
  })

  it('still take the results of calls that were open', async () => {
    const { served, historyOf, threads, edit } = await serveTalker()
    const kept = await edit('chat', 'Pick.', 'Never mind.')
    expect(await threads()).toContainEqual(
      expect.objectContaining({ threadId: kept, status: 'waiting-for-tools' }),
    )
    const talk = served.talk({ threadId: kept })
    talk.client.setMessages([...(await historyOf(kept))])
    await talk.answer({ 'call-1': 'red' }, { tools })
    expect(linesOf(await historyOf(kept))).toEqual([
      'user: Pick.',
      'assistant: pick({})',
      'tool: red',
      'assistant: Answer 3.',
    ])
  })

  it('can be read and removed, however long the id of the thread is', async () => {
    const { served, edit } = await serveTalker()
    const kept = await edit('x'.repeat(256), 'One.', 'Two.')
    expect((await served.ask(`GET /message_snapshot/${kept}`)).status).toBe(200)
    expect((await served.ask(`DELETE /thread/${kept}`)).status).toBe(200)
  })

  it('count among the threads of a user, and make room before conversations do', async () => {
    const { threads, served } = await serveTalker({ threads: { maxPerUser: 3 } })
    await served.talk({ threadId: 'other' }).say('Hello.')
    const talk = served.talk({ threadId: 'chat' })
    await talk.say('Hello.')
    for (let round = 0; round < 4; round++) {
      talk.client.setMessages(talk.client.messages.slice(0, 1))
      await talk.send()
    }
    const names = async () => (await threads()).map(({ threadId }) => threadId).toSorted()
    expect(await names()).toEqual(['chat', 'chat~4', 'other'])
    await served.talk({ threadId: 'new' }).say('Hello.')
    expect(await names()).toEqual(['chat', 'new', 'other'])
  })
})

it('twenty edits of a long thread make the SQLite file little larger, and all can be read', async () => {
  const path = join(temporaryFolder(), 'threads.db')
  const store = await createSqliteStore({ path })
  const model = scriptedModel((_, index) => `Answer ${index + 1}.`)
  const { url } = await serving({ agents: [defineAgent({ name: 'talker', model })], store })
  const size = async (): Promise<number> => {
    await store.compact()
    return statSync(path).size
  }
  const text = 'Once upon a time. '.repeat(2_000)
  const messages = Array.from({ length: 50 }, (_, n) =>
    n % 2 === 0 ? user(`m${n}`, text) : { id: `m${n}`, role: 'assistant' as const, content: text },
  )
  await runWhole(url, inputOf({ messages: [...messages, user('last', 'Go on.')] }))
  const before = await size()
  for (let edit = 1; edit <= 20; edit++) {
    const kept = messages.slice(0, 50 - 2 * edit)
    await runWhole(
      url,
      inputOf({ runId: `edit-${edit}`, messages: [...kept, user(`e${edit}`, 'Another way.')] }),
    )
  }
  expect((await size()) / before).toBeLessThan(1.5)
  const { body } = await ask(`${url}/thread/list`)
  const { threads } = body as {
    readonly threads: readonly { readonly threadId: string; messageCount: number }[]
  }
  expect(threads).toHaveLength(21)
  const contents = new Set<string>()
  for (const { threadId, messageCount } of threads) {
    const history = await historyOf(url, threadId)
    expect(history).toHaveLength(messageCount)
    const kept = history.slice(0, -2).map(({ id, content }) => ({ id, content }))
    expect(kept).toEqual(messages.slice(0, messageCount - 2).map(({ id, content }) => ({ id, content })))
    contents.add(history.at(-1)?.content ?? '')
  }
  expect(contents.size).toBe(21)
  for (const { threadId } of threads)
    expect((await ask(`${url}/thread/${threadId}`, { method: 'DELETE' })).status).toBe(200)
  expect((await size()) / before).toBeLessThan(0.1)
})
