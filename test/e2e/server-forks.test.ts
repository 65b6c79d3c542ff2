import type { Message } from '@ag-ui/core'
import { describe, expect, it } from 'vitest'
import { defineAgent } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { ofType } from '../support/run-agent.js'
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
