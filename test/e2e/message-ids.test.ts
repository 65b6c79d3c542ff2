import type { Message } from '@ag-ui/core'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { defineAgent, run } from '../../src/index.js'
import { scriptedModel } from '../../src/models/index.js'
import { toAgUi } from '../../src/remote/index.js'
import { fetchServer, inputOf } from '../support/fetch-server.js'
import { propertyRuns } from '../support/property-runs.js'
import { talk } from '../support/talk.js'

const parrot = () => defineAgent({ name: 'parrot', model: scriptedModel((_, n) => `Answer ${n + 1}.`) })

const clashes: readonly [what: string, list: readonly Message[]][] = [
  ['two of the user', talk('u1 a1 u1*')],
  ['an edited one beside its original', talk('u1* u1')],
  ['two answers', talk('u1 a1 a1* u2')],
  ['an answer and a question', [...talk('u1 a1'), { id: 'a1', role: 'user', content: 'And?' }]],
  [
    'reasoning and its answer',
    [...talk('u1 r1'), { id: 'r1', role: 'assistant', content: 'Yes.' }, ...talk('u2')],
  ],
]

describe.each(['server', 'client'] as const)('with the history of the %s', (history) => {
  it.each(clashes)('two messages of one id are refused, on any thread: %s', async (_what, messages) => {
    const made = fetchServer({ agents: [parrot()], history })
    const refused = await made.ask('POST /run', { body: inputOf({ messages }) })
    expect(refused).toMatchObject({ status: 400, body: { error: { code: 'INVALID_INPUT' } } })
    expect(refused.text).toMatch(/messages\[\d\]\.id: the id of messages\[\d\]/)
    expect((await made.ask('GET /message_snapshot/thread-1')).status).toBe(404)
    // On a thread that is known, nothing changes.
    await made.run({ messages: talk('u1') })
    const before = await made.history()
    expect((await made.ask('POST /run', { body: inputOf({ messages }) })).status).toBe(400)
    expect(await made.history()).toEqual(before)
  })

  it('one that is there twice counts once', async () => {
    const made = fetchServer({ agents: [parrot()], history })
    await made.run({ messages: talk('u1 u1 a1 a1 u2 u2') })
    const ids = (await made.history()).map(({ id }) => id)
    expect(ids.slice(0, 3)).toEqual(['u1', 'a1', 'u2'])
    expect(ids).toHaveLength(4)
  })
})

it('a run in this process refuses them too', () => {
  for (const [, messages] of clashes) expect(() => run(parrot(), messages)).toThrow(/messages\[\d\]\.id/)
})

it('so does an agent for clients', async () => {
  const agent = toAgUi(parrot())
  agent.setMessages([...(clashes[0]?.[1] ?? [])])
  await expect(agent.runAgent()).rejects.toThrow(/messages\[\d\]\.id/)
})

it('results with the ids of other messages are taken, and get ids of their own', async () => {
  const made = fetchServer({ agents: [parrot()] })
  const results = talk('t-c1 t-c2').map((one): Message => ({ ...one, id: 'a1' }))
  const messages = [...talk('u1 a1(c1,c2)'), ...results, ...talk('a2 u2')]
  await made.ask('POST /run', { body: inputOf({ messages }) })
  const stored = await made.history()
  expect(stored.map(({ role }) => role)).toEqual([...messages.map(({ role }) => role), 'assistant'])
  expect(new Set(stored.map(({ id }) => id)).size).toBe(7)
})

const words = fc.constantFrom(
  'u1',
  'u1*',
  'u2',
  'a1',
  'a1*',
  'a2(c1)',
  'a3(c1,c2)',
  't-c1',
  't-c2*',
  's1',
  'r1',
)
const lists = fc.array(words, { minLength: 1, maxLength: 7 }).map((list) => talk(list.join(' ')))

it('whatever clients send, a stored thread has an id for each message, and a refused request changes nothing', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(lists, { minLength: 1, maxLength: 3 }), async (requests) => {
      const made = fetchServer({ agents: [parrot()] })
      let before: readonly Message[] = []
      for (const messages of requests) {
        const { status } = await made.ask('POST /run', { body: inputOf({ messages }) })
        const { body } = await made.ask('GET /message_snapshot/thread-1')
        const stored = (body as { messages?: Message[] }).messages ?? []
        if (status === 400) expect(stored).toEqual(before)
        else expect(status).toBe(200)
        const ids = stored.map(({ id }) => id)
        expect(new Set(ids).size).toBe(ids.length)
        before = stored
      }
    }),
    { numRuns: propertyRuns(60) },
  )
})
