import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { clientOf, textsOf, until } from './support-client.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, serving, stores } from './support-server.js'

const talker = (name = 'talker') =>
  defineAgent({
    name,
    model: scriptedModel(
      ({ messages }) => `Answer ${messages.filter(({ role }) => role === 'user').length}.`,
    ),
  })

describe.each(stores)('a thread of the client, with the store %s', (_, makeStore) => {
  it('sends, is answered, and holds what the server has', async () => {
    const { url } = await serving({ agents: [talker()], store: await makeStore() })
    const thread = clientOf(url).thread('talker')
    expect(thread.getSnapshot()).toMatchObject({ messages: [], status: 'idle', connection: 'closed' })
    expect(await thread.send('One?')).toMatchObject({ status: 'completed' })
    expect(await thread.send('Two?')).toMatchObject({ status: 'completed' })
    const snapshot = thread.getSnapshot()
    expect(textsOf(snapshot)).toEqual([
      'user: One?',
      'assistant: Answer 1.',
      'user: Two?',
      'assistant: Answer 2.',
    ])
    expect(await historyOf(url, thread.threadId)).toEqual(snapshot.messages)
    expect(snapshot).toMatchObject({ status: 'idle', error: undefined })
  })

  it('shows the message at once, and the words of the answer as they come', async () => {
    const { agent, say, sayAll } = gatedAgent(['Good ', 'morning.'])
    const { url } = await serving({ agents: [agent], store: await makeStore() })
    const thread = clientOf(url).thread('speaker')
    const done = thread.send('Hello')
    expect(textsOf(await until(thread, ({ status }) => status === 'running'))).toEqual(['user: Hello'])
    say(0)
    await until(thread, (snapshot) => textsOf(snapshot).includes('assistant: Good '))
    sayAll()
    expect(await done).toMatchObject({ status: 'completed' })
    expect(textsOf(thread.getSnapshot())).toEqual(['user: Hello', 'assistant: Good morning.'])
  })

  it('shows a page that loads the messages, and follows the run at work', async () => {
    const { agent, say, sayAll } = gatedAgent(['Good ', 'morning.'])
    const { url } = await serving({ agents: [agent], store: await makeStore() })
    const thread = clientOf(url).thread('speaker', 't')
    const done = thread.send('Hello')
    say(0)
    await until(thread, (snapshot) => textsOf(snapshot).includes('assistant: Good '))
    const page = clientOf(url).thread('speaker', 't')
    expect(page.getSnapshot().status).toBe('loading')
    await until(page, (snapshot) => textsOf(snapshot).includes('assistant: Good '))
    sayAll()
    const after = await until(page, ({ status }) => status === 'idle')
    await done
    expect(after.messages).toEqual(thread.getSnapshot().messages)
    const later = clientOf(url).thread('speaker', 't')
    expect((await until(later, ({ status }) => status === 'idle')).messages).toEqual(after.messages)
  })

  it('stays in step with another tab, in both directions', async () => {
    const { url } = await serving({ agents: [talker()], store: await makeStore() })
    const [one, two] = [clientOf(url).thread('talker', 't'), clientOf(url).thread('talker', 't')]
    const stops = [one, two].map((thread) => thread.subscribe(() => undefined))
    await until(two, ({ status }) => status === 'idle')
    await one.send('One?')
    await until(two, ({ messages, status }) => messages.length === 2 && status === 'idle')
    await two.send('Two?')
    await until(one, ({ messages, status }) => messages.length === 4 && status === 'idle')
    await one.patchState([{ op: 'add', path: '/colour', value: 'red' }])
    await until(two, ({ state }) => (state as { colour?: string }).colour === 'red')
    expect(one.getSnapshot().messages).toEqual(two.getSnapshot().messages)
    expect(await historyOf(url, 't')).toEqual(one.getSnapshot().messages)
    for (const stop of stops) stop()
  })

  it('stops the run on the server', async () => {
    const { agent, say } = gatedAgent(['Good ', 'morning.'])
    const { url } = await serving({ agents: [agent], store: await makeStore() })
    const thread = clientOf(url).thread('speaker', 't')
    const done = thread.send('Hello')
    say(0)
    await until(thread, (snapshot) => textsOf(snapshot).includes('assistant: Good '))
    await thread.stop()
    expect(await done).toMatchObject({ status: 'cancelled' })
    expect((await ask(`${url}/thread/list`)).body).toMatchObject({
      threads: [{ lastRun: { status: 'cancelled' } }],
    })
    await until(thread, ({ status }) => status === 'idle')
    expect(await historyOf(url, 't')).toEqual(thread.getSnapshot().messages)
  })

  it('edits a message and regenerates an answer, and the old branch stays', async () => {
    let count = 0
    const agent = defineAgent({ name: 'talker', model: scriptedModel(() => `Answer ${++count}.`) })
    const { url } = await serving({ agents: [agent], store: await makeStore() })
    const client = clientOf(url)
    const thread = client.thread('talker', 't')
    await thread.send('One?')
    await thread.send('Two?')
    const [first] = thread.getSnapshot().messages
    const edited = await thread.edit(first?.id ?? '', 'Uno?')
    expect(edited).toMatchObject({ status: 'completed' })
    expect(textsOf(thread.getSnapshot())).toEqual(['user: Uno?', 'assistant: Answer 3.'])
    expect(await thread.regenerate()).toMatchObject({ status: 'completed' })
    expect(textsOf(thread.getSnapshot())).toEqual(['user: Uno?', 'assistant: Answer 4.'])
    expect(await historyOf(url, 't')).toEqual(thread.getSnapshot().messages)
    expect(textsOf({ messages: (await historyOf(url, edited.forkedTo ?? '')) as never })).toEqual([
      ...['user: One?', 'assistant: Answer 1.', 'user: Two?', 'assistant: Answer 2.'],
    ])
  })

  it.each(['in step', 'that has not loaded the version', 'that another tab has overtaken'])(
    'regenerates with one message alone, for a client %s',
    async (which) => {
      let count = 0
      const agent = defineAgent({ name: 'talker', model: scriptedModel(() => `Answer ${++count}.`) })
      const { url } = await serving({ agents: [agent], store: await makeStore() })
      const sent: { messages: { id: string }[] }[] = []
      const recording: typeof fetch = (address, init) => {
        if (typeof address === 'string' && address.endsWith('/run'))
          sent.push(JSON.parse(init?.body as string) as never)
        return fetch(address, init)
      }
      const thread = clientOf(url, { fetch: recording }).thread('talker', 't')
      const texts = which === 'that has not loaded the version' ? ['One?'] : ['One?', 'Two?', 'Three?']
      for (const text of texts) await thread.send(text)
      const other = clientOf(url).thread('talker', 't')
      if (which === 'that another tab has overtaken') await other.send('Four?')
      const before = count
      const last = thread.getSnapshot().messages.findLast(({ role }) => role === 'user')
      expect(await thread.regenerate()).toMatchObject({
        status: 'completed',
        forkedTo: expect.any(String) as string,
      })
      expect(sent.at(-1)?.messages).toEqual([last])
      const snapshot = await until(thread, ({ status }) => status === 'idle')
      expect(textsOf(snapshot).slice(-2)).toEqual([
        `user: ${texts.at(-1)}`,
        `assistant: Answer ${before + 1}.`,
      ])
      expect(snapshot.messages).toHaveLength(2 * texts.length)
      expect(await historyOf(url, 't')).toEqual(snapshot.messages)
    },
  )

  it('runs tools of the client, and goes on with their results', async () => {
    const model = scriptedModel([
      [{ toolCall: { name: 'colour', args: { to: 'red' } } }, { toolCall: { name: 'sound', args: {} } }],
      'It is red and loud.',
    ])
    const { url } = await serving({
      agents: [defineAgent({ name: 'painter', model })],
      store: await makeStore(),
    })
    const seen: unknown[] = []
    const tools = {
      colour: {
        description: 'Changes the colour.',
        parameters: { type: 'object', properties: { to: { type: 'string' } } },
        execute: (args: { to: string }) => void seen.push(args.to),
      },
      sound: {
        description: 'Makes a sound.',
        execute(): unknown {
          throw new Error('No loudspeaker')
        },
      },
    }
    const thread = clientOf(url).thread('painter', 't', { tools })
    expect(await thread.send('Paint!')).toMatchObject({ status: 'completed' })
    expect(seen).toEqual(['red'])
    expect(textsOf(thread.getSnapshot()).slice(2)).toEqual([
      ...['tool: ', 'tool: Error: No loudspeaker', 'assistant: It is red and loud.'],
    ])
    expect(await historyOf(url, 't')).toEqual(thread.getSnapshot().messages)
  })

  it('leaves calls without a handler to the application, also after a reload', async () => {
    const model = scriptedModel([[{ toolCall: { name: 'pick', args: { of: 2 } } }], 'Good choice.'])
    const { url } = await serving({
      agents: [defineAgent({ name: 'asker', model })],
      store: await makeStore(),
    })
    const tools = { pick: { description: 'Lets the user pick.' } }
    const first = clientOf(url).thread('asker', 't', { tools })
    expect(await first.send('Go')).toMatchObject({ status: 'waiting-for-tools' })
    const page = clientOf(url).thread('asker', 't', { tools })
    const { pendingToolCalls } = await until(page, ({ status }) => status === 'waiting-for-tools')
    expect(pendingToolCalls).toEqual([{ id: 'call-1', name: 'pick', arguments: '{"of":2}' }])
    expect(await page.answerTool('call-1', { chosen: 1 })).toMatchObject({ status: 'completed' })
    expect(page.getSnapshot()).toMatchObject({ pendingToolCalls: [], status: 'idle' })
    expect(await historyOf(url, 't')).toEqual(page.getSnapshot().messages)
  })

  it('shows open interrupts, also after a reload, and answers them', async () => {
    const pay = defineTool({
      name: 'pay',
      description: 'Pays.',
      input: z.object({}),
      async execute(_, ctx) {
        const answer = await ctx.interrupt({ message: 'Pay?' })
        return answer.status === 'resolved' ? 'paid' : 'not paid'
      },
    })
    const model = scriptedModel([[{ toolCall: { name: 'pay', args: {} } }], 'Done.'])
    const { url } = await serving({
      agents: [defineAgent({ name: 'cashier', model, tools: [pay] })],
      store: await makeStore(),
    })
    const first = clientOf(url).thread('cashier', 't')
    expect(await first.send('Pay!')).toMatchObject({ status: 'interrupted' })
    expect(first.getSnapshot()).toMatchObject({ status: 'interrupted', interrupts: [{ message: 'Pay?' }] })
    expect(await first.send('Well?')).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESUME' } })
    const page = clientOf(url).thread('cashier', 't')
    const { interrupts } = await until(page, ({ status }) => status === 'interrupted')
    expect(await page.resume([])).toMatchObject({ status: 'failed', error: { code: 'INVALID_RESUME' } })
    const answers = interrupts.map(({ id }) => ({ interruptId: id, payload: { approved: true } }))
    expect(await page.resume(answers)).toMatchObject({ status: 'completed' })
    expect(page.getSnapshot()).toMatchObject({ interrupts: [], status: 'idle', error: undefined })
    expect(await historyOf(url, 't')).toEqual(page.getSnapshot().messages)
  })

  it('shows a new thread with the id of one that was deleted meanwhile', async () => {
    const { url } = await serving({ agents: [talker()], store: await makeStore() })
    const tab = clientOf(url).thread('talker', 't')
    // The answer to the second has the version of the thread.
    for (const text of ['Old?', 'Older?']) await tab.send(text)
    const client = clientOf(url)
    await client.threads.delete('talker', 't')
    const another = client.thread('talker', 't')
    for (const text of ['New?', 'Newer?']) await another.send(text)
    const snapshot = await until(tab, ({ messages }) => messages[0]?.content !== 'Old?')
    expect(snapshot.messages).toEqual(await historyOf(url, 't'))
    expect(textsOf(snapshot)).toEqual([
      'user: New?',
      'assistant: Answer 1.',
      'user: Newer?',
      'assistant: Answer 2.',
    ])
  })

  it('puts threads away and takes them back, also while a run is live', async () => {
    const gated = gatedAgent(['Good ', 'morning.'])
    const { url } = await serving({ agents: [gated.agent], store: await makeStore() })
    const client = clientOf(url)
    const { threads } = client
    const done = client.thread('speaker', 'a').send('Hello')
    gated.say(0)
    const listed = async (archived?: boolean) =>
      (await threads.list('speaker', archived === undefined ? {} : { archived })).threads
    await vi.waitFor(async () => expect(await listed()).toHaveLength(1))
    await threads.archive('speaker', 'a')
    expect(await listed()).toEqual([])
    gated.sayAll()
    expect(await done).toMatchObject({ status: 'completed' })
    expect(await listed(false)).toEqual([])
    expect(await listed(true)).toMatchObject([{ threadId: 'a', archived: true }])
    await threads.unarchive('speaker', 'a')
    expect((await listed())[0]).not.toHaveProperty('archived')
    await expect(threads.archive('speaker', 'unknown')).rejects.toMatchObject({ code: 'THREAD_NOT_FOUND' })
  })

  it('lists, searches, renames and deletes threads, and lists agents', async () => {
    const { url } = await serving({ agents: [talker(), talker('other')], store: await makeStore() })
    const client = clientOf(url)
    await client.thread('talker', 'a').send('Trip to Rome')
    await client.thread('talker', 'b').send('Cake')
    const titles = async (text: string) =>
      (await client.threads.search('talker', text)).threads.map(({ title }) => title)
    expect((await client.threads.list('talker')).threads.map(({ threadId }) => threadId)).toEqual(['b', 'a'])
    expect(await titles('ROME')).toEqual(['Trip to Rome'])
    await client.threads.rename('talker', 'b', 'Roman "cake" 100%')
    expect(await titles('rom')).toEqual(['Roman "cake" 100%', 'Trip to Rome'])
    expect(await titles('"CAKE" 100%')).toEqual(['Roman "cake" 100%'])
    expect(await titles('%')).toEqual(['Roman "cake" 100%'])
    await client.threads.delete('talker', 'b')
    expect(
      (await client.threads.list('talker', { limit: 1 })).threads.map(({ threadId }) => threadId),
    ).toEqual(['a'])
    expect((await client.agents()).map(({ name }) => name)).toEqual(['talker', 'other'])
    await expect(client.threads.rename('talker', 'b', 'x')).rejects.toMatchObject({
      code: 'THREAD_NOT_FOUND',
    })
    await expect(client.threads.rename('talker', 'a', ' ')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
