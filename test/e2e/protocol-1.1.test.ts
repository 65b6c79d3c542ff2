import { HttpAgent } from '@ag-ui/client'
import type { Message } from '@ag-ui/core'
import { expect, it, vi } from 'vitest'
import { defineAgent, run } from '../../src/index.js'
import type { Model, ModelRequest } from '../../src/models/index.js'
import { decodeProtobuf, protobufMediaType, type AgUiEvent } from '../../src/protocol/index.js'
import { fromAgUi, toAgUi } from '../../src/remote/index.js'
import { historyOf } from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'
import { serveAgents, type ServedAgents } from '../support/serve-agents.js'
import { newClient, oldClient } from './support-clients.js'
import { inputOf, user } from './support-server.js'

const kind = 'acme.redacted'

/** A model that returns two kinds of encrypted values, and needs to know which is which. */
function typedModel() {
  const requests: ModelRequest[] = []
  const model: Model = {
    ...{ provider: 'acme', modelId: 'one' },
    async *stream(request) {
      requests.push({ ...request })
      await Promise.resolve()
      yield { type: 'reasoning-delta', delta: 'Hm.' }
      yield { type: 'reasoning-end', encryptedValue: 'secret', encryptedValueType: kind }
      yield { type: 'text-delta', delta: 'Yes.' }
      yield { type: 'text-end', encryptedValue: 'plain' }
      yield { type: 'finish', reason: 'stop' }
    },
  }
  return { requests, agent: defineAgent({ name: 'thinker', model }) }
}

const typesIn = (messages: readonly Message[]): unknown[] =>
  messages.map((message) => (message as { encryptedValueType?: string }).encryptedValueType)

const valuesIn = (events: readonly AgUiEvent[]) =>
  ofType(events, 'REASONING_ENCRYPTED_VALUE').map(({ encryptedValue, encryptedValueType }) => [
    encryptedValue,
    encryptedValueType,
  ])

async function say(served: ServedAgents, protocolVersion: string | undefined, runId = 'r1') {
  const body = inputOf({ runId, protocolVersion, messages: [user(`u-${runId}`, 'Go')] })
  return (await served.stream('/run', { body })).events
}

it.each([
  ['1.1', '1.1', kind],
  ['1.7', '1.1', kind],
  ['1.0', '1.0', undefined],
  ['1.0.0', '1.0', undefined],
  [undefined, '1.0', undefined],
])('a client that declares %s is served AG-UI %s', async (declared, spoken, type) => {
  const served = await serveAgents({ agents: [typedModel().agent], store: 'sqlite' })
  const events = await say(served, declared)
  expect(ofType(events, 'RUN_STARTED')[0]?.protocolVersion).toBe(spoken)
  expect(valuesIn(events)).toEqual([
    ['secret', type],
    ['plain', undefined],
  ])
  const body = { threadId: 'thread-1', protocolVersion: declared }
  const [snapshot] = ofType((await served.stream('/connect', { body })).events, 'MESSAGES_SNAPSHOT')
  expect(typesIn(snapshot?.messages ?? [])).toEqual([undefined, type, undefined])
})

it('the type of a value is stored with it, and comes back to the model', async () => {
  const { agent, requests } = typedModel()
  let served = await serveAgents({ agents: [agent], store: 'sqlite' })
  await say(served, '1.0')
  served = await served.restart()
  expect(typesIn(await historyOf(served))).toEqual([undefined, kind, undefined])
  await say(served, '1.0', 'r2')
  expect(typesIn(requests[1]?.messages ?? []).filter(Boolean)).toEqual([kind])
})

it('a client that brings types with its messages keeps them, and one of 1.0 need not', async () => {
  const { agent, requests } = typedModel()
  const call = {
    id: 'c1',
    type: 'function',
    function: { name: 'work', arguments: '{}' },
    encryptedValue: 'c',
  }
  const messages = [
    { ...user('u1', 'Go'), encryptedValue: 'u', encryptedValueType: 'acme.user' },
    { id: 'a1', role: 'assistant', toolCalls: [{ ...call, encryptedValueType: 'acme.call' }] },
    { id: 't1', role: 'tool', toolCallId: 'c1', content: 'ok', encryptedValue: 't' },
    user('u2', 'And?'),
  ] as unknown as Message[]
  await run(agent, messages).result
  const served = await serveAgents({ agents: [agent], history: 'client' })
  await served.stream('/run', { body: inputOf({ runId: 'r1', protocolVersion: '1.1', messages }) })
  expect(served.logged.filter((line) => line.startsWith('warn'))).toEqual([])
  for (const { messages: sent } of requests) expect(sent.slice(0, 4)).toEqual(messages)
})

it('clients of 1.0 and before have nothing to warn about', async () => {
  const warn = vi.spyOn(console, 'warn')
  const { url } = await serveAgents({ agents: [typedModel().agent] })
  for (const client of [
    newClient({ url }),
    oldClient({ url, threadId: 'old' }),
    toAgUi(typedModel().agent),
  ]) {
    client.addMessage({ id: 'u1', role: 'user', content: 'Go' })
    await client.runAgent()
    client.addMessage({ id: 'u2', role: 'user', content: 'And?' })
    await client.runAgent()
  }
  // A remote agent that is sent the messages of such a model.
  const boss = fromAgUi(new HttpAgent({ url: `${url}/run` }), { name: 'far' })
  const { messages } = await run(typedModel().agent, 'Go').result
  const asked = [...messages, { id: 'u3', role: 'user' as const, content: 'And?' }]
  expect(await run(boss, { messages: asked }).result).toMatchObject({ type: 'completed', text: 'Yes.' })
  expect(warn.mock.calls).toEqual([])
  warn.mockRestore()
})

it('protobuf has no field for what 1.1 adds: such a stream is 1.0', async () => {
  const { url } = await serveAgents({ agents: [typedModel().agent] })
  const body = inputOf({ runId: 'r1', protocolVersion: '1.1', messages: [user('u1', 'Go')] })
  const headers = { 'content-type': 'application/json', accept: protobufMediaType }
  const response = await fetch(`${url}/run`, { method: 'POST', headers, body: JSON.stringify(body) })
  const events: AgUiEvent[] = []
  for await (const frame of decodeProtobuf(response.body ?? new ReadableStream()))
    if (frame.kind === 'event') events.push(frame.event as AgUiEvent)
  expect(events[0]).toMatchObject({ type: 'RUN_STARTED', protocolVersion: '1.0' })
  expect(valuesIn(events)[0]).toEqual(['secret', undefined])
})
