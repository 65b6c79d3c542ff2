import { join } from 'node:path'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { manualClock } from '../../src/core/clock.js'
import { defineAgent, defineTool } from '../../src/index.js'
import { scriptedModel, type ScriptPiece } from '../../src/models/index.js'
import { assertValidStream } from '../../src/testing/index.js'
import { createSqliteStore } from '../../src/threads/sqlite/store.js'
import type { Store } from '../../src/threads/contract.js'
import { deferred } from '../support/run-agent.js'
import { clients } from './support-clients.js'
import { gatedAgent } from './support-gated.js'
import { ask, historyOf, inputOf, listed, serving, temporaryFolder, user } from './support-server.js'
import { openStream } from './support-stream.js'

/** One life of a server after the other, on the same file, each with agents of its own. */
function lives(calls: readonly ScriptPiece[]) {
  const path = join(temporaryFolder(), 'threads.db')
  const deeds: string[] = []
  const modelCalls: string[][] = []
  const pay = defineTool({
    name: 'pay',
    description: 'Pays a bill.',
    input: z.object({ what: z.string() }),
    async execute({ what }, ctx) {
      const answer = await ctx.interrupt({
        message: `Pay ${what}?`,
        responseSchema: z.object({ approved: z.boolean() }),
      })
      const isPaid = answer.status === 'resolved' && answer.payload.approved
      if (isPaid) ctx.setState((state: object) => ({ ...state, [what]: 'paid' }))
      deeds.push(isPaid ? `paid ${what}` : `left ${what}`)
      return isPaid ? 'paid' : 'not paid'
    },
  })
  const start = async () => {
    // A model has no memory: what it says depends on the messages alone.
    const model = scriptedModel(({ messages }) => {
      modelCalls.push(messages.map(({ role }) => role))
      const last = messages.at(-1)
      if (last?.role === 'tool') return 'All is settled.'
      const said = messages.filter(({ role }) => role === 'user').length
      return said === 1 ? ['I will ask.', ...calls] : `Your message ${said} is here.`
    })
    const agent = defineAgent({ name: 'cashier', model, tools: [pay] })
    return serving({ agents: [agent], store: await createSqliteStore({ path }) })
  }
  return { start, deeds, modelCalls }
}

const payCall = (id: string, what: string): ScriptPiece => ({ toolCall: { id, name: 'pay', args: { what } } })
const yes = (interruptId: string) => ({
  interruptId,
  status: 'resolved' as const,
  payload: { approved: true },
})

for (const [version, makeClient] of clients) {
  it(`resumes an interrupted run after a restart, once, with the client ${version}`, async () => {
    const { start, deeds, modelCalls } = lives([payCall('pay-1', 'rent')])
    const first = await start()
    const client = makeClient(first)
    client.addMessage(user('u1', 'Pay the rent.'))
    await client.runAgent({ runId: 'run-1' })
    const [interrupt] = client.pendingInterrupts
    expect(interrupt).toMatchObject({ message: 'Pay rent?', toolCallId: 'pay-1' })
    await first.close()
    expect(deeds).toEqual([])

    const second = await start()
    client.url = `${second.url}/run`
    const resume = [yes(interrupt?.id ?? '')]
    await client.runAgent({ runId: 'run-2', resume })
    expect(client.pendingInterrupts).toEqual([])
    expect(client.messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool', 'assistant'])
    expect(client.state).toEqual({ rent: 'paid' })
    expect(deeds).toEqual(['paid rent'])
    const callsSoFar = modelCalls.length
    const stored = await historyOf(second.url)
    await second.close()

    const third = await start()
    client.url = `${third.url}/run`
    await client.runAgent({ runId: 'run-3', resume })
    expect(client.pendingInterrupts).toEqual([])
    expect(deeds).toEqual(['paid rent'])
    expect(modelCalls).toHaveLength(callsSoFar)
    expect(await historyOf(third.url)).toEqual(stored)
  })

  it(`shows a thread to a client ${version} that was not there, its open interrupts included`, async () => {
    const { start, deeds } = lives([payCall('pay-1', 'rent')])
    const first = await start()
    const before = makeClient(first)
    before.addMessage(user('u1', 'Pay the rent.'))
    before.setState({ purse: 'full' })
    await before.runAgent({ runId: 'run-1' })
    await first.close()

    const second = await start()
    const fresh = makeClient(second)
    await fresh.connectAgent()
    expect(fresh.messages).toEqual(before.messages)
    expect(fresh.state).toEqual({ purse: 'full' })
    expect(fresh.pendingInterrupts).toEqual(before.pendingInterrupts)
    expect(fresh.pendingInterrupts).toHaveLength(1)

    await fresh.runAgent({ runId: 'run-2', resume: [yes(fresh.pendingInterrupts[0]?.id ?? '')] })
    expect(deeds).toEqual(['paid rent'])
    expect(fresh.state).toEqual({ purse: 'full', rent: 'paid' })

    const late = makeClient(second)
    await late.connectAgent()
    expect(late.messages).toEqual(fresh.messages)
    expect(late.pendingInterrupts).toEqual([])
  })

  it(`asks the same again when a fresh client ${version} says something else, and hears it with the answer`, async () => {
    const { start, deeds, modelCalls } = lives([payCall('pay-1', 'rent')])
    const first = await start()
    const before = makeClient(first)
    before.addMessage(user('u1', 'Pay the rent.'))
    await before.runAgent({ runId: 'run-1' })
    await first.close()

    const second = await start()
    const fresh = makeClient(second)
    fresh.addMessage(user('u2', 'Are you there?'))
    await fresh.runAgent({ runId: 'run-2' })
    expect(fresh.pendingInterrupts).toEqual(before.pendingInterrupts)
    expect(fresh.messages).toContainEqual(user('u2', 'Are you there?'))
    expect(modelCalls).toHaveLength(1)
    expect(deeds).toEqual([])
    expect(await listed(second.url)).toMatchObject({ status: 'interrupted', messageCount: 2 })

    await fresh.runAgent({ runId: 'run-3', resume: [yes(fresh.pendingInterrupts[0]?.id ?? '')] })
    expect(fresh.pendingInterrupts).toEqual([])
    expect(deeds).toEqual(['paid rent'])
    const stored = await historyOf(second.url)
    expect(stored.filter(({ id }) => id === 'u2')).toHaveLength(1)
    expect(modelCalls.at(-1)?.filter((role) => role === 'user')).toHaveLength(2)
    expect(new Set(stored.map(({ id }) => id)).size).toBe(stored.length)
  })
}

it('raises the same interrupt again in the client that has it, over its own message', async () => {
  const { start, deeds } = lives([payCall('pay-1', 'rent')])
  const { url } = await start()
  const messages = [user('u1', 'Pay the rent.')]
  const first = await openStream(`${url}/run`, { body: inputOf({ messages }) })
  await first.whole()
  const stored = await historyOf(url)
  const body = inputOf({ runId: 'run-2', messages: [...stored, user('u2', 'Hurry.')] })
  const second = await openStream(`${url}/run`, { body })
  await second.whole()
  assertValidStream(second.events, { input: body })
  expect(second.events.at(-1)).toMatchObject({
    outcome: (first.events.at(-1) as { outcome: unknown }).outcome,
  })
  expect(await historyOf(url)).toEqual(stored)
  expect(deeds).toEqual([])
})

it('takes the answers to two interrupts one at a time, each in another process', async () => {
  const { start, deeds } = lives([payCall('pay-1', 'rent'), payCall('pay-2', 'gas')])
  const first = await start()
  const input = inputOf({ messages: [user('u1', 'Pay all.')] })
  const interrupted = await openStream(`${first.url}/run`, { body: input })
  await interrupted.whole()
  assertValidStream(interrupted.events, { input })
  const interrupts = interruptsIn(interrupted.events.at(-1))
  expect(Object.keys(interrupts)).toEqual(['Pay rent?', 'Pay gas?'])
  await first.close()

  const second = await start()
  const half = inputOf({
    runId: 'run-2',
    messages: await historyOf(second.url),
    resume: [yes(interrupts['Pay gas?'] ?? '')],
  })
  const partial = await openStream(`${second.url}/run`, { body: half })
  await partial.whole()
  assertValidStream(partial.events, { input: half })
  expect(interruptsIn(partial.events.at(-1))).toEqual({ 'Pay rent?': interrupts['Pay rent?'] })
  expect(deeds).toEqual(['paid gas'])
  await second.close()

  const third = await start()
  const rest = inputOf({
    runId: 'run-3',
    messages: await historyOf(third.url),
    // The other answer once more: it is known, and nothing is done about it.
    resume: Object.values(interrupts).map(yes),
  })
  const last = await openStream(`${third.url}/run`, { body: rest })
  await last.whole()
  assertValidStream(last.events, { input: rest })
  expect(last.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' } })
  expect(deeds).toEqual(['paid gas', 'paid rent'])
  const stored = await historyOf(third.url)
  expect(stored.filter(({ role }) => role === 'tool').map(({ toolCallId }) => toolCallId)).toHaveLength(2)
  expect(await listed(third.url)).toMatchObject({ status: 'idle' })
})

it('requests that come during the recovery of a lost run wait for it', async () => {
  const clock = manualClock()
  const inner = await createSqliteStore({ path: join(temporaryFolder(), 'threads.db'), clock })
  const key = { app: 'default', user: 'local', agent: 'speaker', thread: 'thread-1' }
  const lease = await inner.leases.acquire(key, { owner: 'another process', ttlMs: 1000 })
  if (!lease) throw new Error('The thread is taken.')
  const { store, isHeld, letGo, requests } = heldAtCommit(inner)
  const { url } = await serving({ agents: [gatedAgent([]).agent], store })
  const start = { keep: 0, append: [user('u1', 'Speak.')], state: {}, clientTools: [] }
  await inner.threads.begin(lease, { runId: 'run-1', status: 'running', startedAt: 0, nextSeq: 0, start })
  await clock.advance(2000)

  const look = () => ask(`${url}/message_snapshot/thread-1`)
  const looks = [look()]
  await isHeld.promise
  const body = inputOf({ runId: 'run-2', messages: [user('u1', 'Speak.'), user('u2', 'More.')] })
  const running = openStream(`${url}/run`, { body })
  looks.push(look(), look(), look())
  await expect.poll(requests).toBe(5)
  letGo.resolve()
  for (const { status, body: shown } of await Promise.all(looks)) {
    expect(status).toBe(200)
    expect((shown as { messages: unknown[] }).messages[0]).toEqual(user('u1', 'Speak.'))
  }
  const stream = await running
  expect(stream.status).toBe(200)
  await stream.whole()
  assertValidStream(stream.events, { input: body })
})

/** A store whose first commit waits for the test. Counts how often a lease was requested. */
function heldAtCommit(inner: Store) {
  const [isHeld, letGo] = [deferred(), deferred()]
  let count = 0
  const store: Store = {
    ...inner,
    threads: {
      ...inner.threads,
      async commit(lease, change) {
        isHeld.resolve()
        await letGo.promise
        return inner.threads.commit(lease, change)
      },
    },
    leases: {
      ...inner.leases,
      async acquire(key, terms) {
        const lease = await inner.leases.acquire(key, terms)
        count++
        return lease
      },
    },
  }
  return { store, isHeld, letGo, requests: () => count }
}

function interruptsIn(event: unknown): Record<string, string> {
  const { outcome } = event as { outcome: { interrupts?: readonly { id: string; message: string }[] } }
  return Object.fromEntries((outcome.interrupts ?? []).map(({ id, message }) => [message, id]))
}
