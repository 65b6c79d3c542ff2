import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { BaseLlm, FunctionTool, Gemini, LlmAgent, type LlmResponse } from '@google/adk'
import { describe, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import type { FunctionCall } from '../../src/adk/adk-types.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { afterEachTest } from '../support/after-each-test.js'
import { says, ScriptedLlm, whole, type LlmStep } from '../support/adk/scripted-llm.js'
import { callId, clientTool, historyOf, requestLines, serveAdk, textIn } from '../support/adk/serve-adk.js'
import { ofType } from '../support/run-agent.js'
import { clientVersions, linesOf } from '../support/serve-agents.js'

/** A piece of a call, as ADK passes it on from Gemini when arguments are streamed. */
const piece = (functionCall: FunctionCall): LlmResponse => ({
  content: { role: 'model', parts: [{ functionCall }] },
  partial: true,
})
const text = (jsonPath: string, stringValue: string) =>
  piece({ partialArgs: [{ jsonPath, stringValue }], willContinue: true })
const begins = (name: string, id?: string) =>
  piece({ name, willContinue: true, ...(id === undefined ? {} : { id }) })
const ends = piece({})

async function serveWriter(answers: readonly LlmStep[] | BaseLlm) {
  const ran: unknown[] = []
  const write = new FunctionTool({
    name: 'write',
    description: 'Writes.',
    parameters: z.looseObject({}),
    execute: (args) => {
      ran.push(args)
      return { written: true }
    },
  })
  const llm = new ScriptedLlm(answers instanceof BaseLlm ? [] : answers)
  const model = answers instanceof BaseLlm ? answers : llm
  const served = await serveAdk({
    make: () => fromAdk(new LlmAgent({ name: 'writer', model, tools: [write] })),
  })
  return { ran, llm, served }
}

const argsOf = (events: readonly AgUiEvent[], id: string): string[] =>
  ofType(events, 'TOOL_CALL_ARGS').flatMap(({ toolCallId, delta }) => (toolCallId === id ? [delta] : []))

describe('arguments that ADK streams', () => {
  it.each(clientVersions)('are shown as they come, and the tool runs once ($version)', async ({ Client }) => {
    const args = { title: 'Rain "in" Oslo', body: 'It rains.\nStill.' }
    const { ran, llm, served } = await serveWriter([
      [
        begins('write', 'adk-1'),
        text('$.title', 'Rain "in"'),
        text('$.title', ' Oslo'),
        text('$.body', 'It rains.\n'),
        text('$.body', 'Still.'),
        ends,
        whole([{ functionCall: { name: 'write', id: 'adk-1', args } }]),
      ],
      says('Done.'),
      says('Again.'),
    ])
    const talk = served.talk({ Client })
    const events = await talk.say('Write')
    const id = callId(events, 'write')
    expect(argsOf(events, id)).toEqual([
      '{"title":"Rain \\"in\\"',
      ' Oslo',
      '","body":"It rains.\\n',
      'Still.',
      '"}',
    ])
    expect(ran).toEqual([args])
    expect(linesOf(talk.client.messages)).toEqual(linesOf(await historyOf(served)))
    await talk.say('More')
    expect(requestLines(llm.calls[2]).filter((line) => line.includes('write('))).toEqual([
      `model: write(${JSON.stringify(args)})`,
    ])
  })

  it('of a client tool leave it pending when they are whole', async () => {
    const { served } = await serveWriter([
      [
        begins('pick'),
        text('$.color', 're'),
        text('$.color', 'd'),
        // Without an id: the model does not give any.
        whole([{ functionCall: { name: 'pick', args: { color: 'red' } } }]),
      ],
      says('Red.'),
    ])
    const tools = [clientTool('pick')]
    const talk = served.talk()
    const events = await talk.say('Pick', { tools })
    const id = callId(events, 'pick')
    expect(argsOf(events, id)).toEqual(['{"color":"re', 'd', '"}'])
    expect(events.at(-1)).toMatchObject({ outcome: { type: 'success', pendingToolCallIds: [id] } })
    expect(textIn(await talk.answer({ [id]: 'ok' }, { tools }))).toBe('Red.')
  })

  it('may be nested, numbers and nothing, and of several calls', async () => {
    const first = { a: { b: 'x😀', c: 2 }, d: { '0': true }, e: null }
    const { ran, served } = await serveWriter([
      [
        piece({
          name: 'write',
          id: 'adk-1',
          willContinue: true,
          partialArgs: [{ jsonPath: '$.a.b', stringValue: 'x\ud83d' }],
        }),
        text('$.a.b', '\ude00'),
        piece({
          willContinue: true,
          partialArgs: [
            { jsonPath: '$.a.c', numberValue: 2 },
            { jsonPath: '$.d[0]', boolValue: true },
            { jsonPath: '$.e', nullValue: 'NULL_VALUE' },
          ],
        }),
        ends,
        begins('write', 'adk-2'),
        ends,
        whole([
          { functionCall: { name: 'write', id: 'adk-1', args: first } },
          { functionCall: { name: 'write', id: 'adk-2', args: {} } },
        ]),
      ],
      says('Done.'),
    ])
    const events = await served.talk().say('Write')
    const [one, two] = ofType(events, 'TOOL_CALL_START').map(({ toolCallId }) => toolCallId)
    expect(JSON.parse(argsOf(events, one ?? '').join(''))).toEqual(first)
    expect(argsOf(events, two ?? '')).toEqual(['{}'])
    expect(ran).toEqual([first, {}])
    expect(ofType(events, 'TOOL_CALL_RESULT')).toHaveLength(2)
  })

  it('that break off are of a call that nobody executes', async () => {
    const { ran, served } = await serveWriter([
      [begins('write', 'adk-1'), text('$.title', 'Ra'), new Error('gone')],
      says('Here.'),
    ])
    const talk = served.talk()
    const events = await talk.say('Write').catch(() => talk.streams.at(-1)?.events ?? [])
    expect(events.at(-1)?.type).toBe('RUN_ERROR')
    expect([ran, callId(events, 'write') !== '']).toEqual([[], true])
    expect(textIn(await talk.say('Still there?'))).toBe('Here.')
  })

  it('come from the wire of Gemini: clients see each piece before the next one is written', async () => {
    let shown = (): number => 0
    const model = await geminiOnWire(
      [
        [
          { name: 'write', willContinue: true },
          { partialArgs: [{ jsonPath: '$.title', stringValue: 'Ra' }], willContinue: true },
          { partialArgs: [{ jsonPath: '$.title', stringValue: 'in' }], willContinue: true },
          {},
        ],
        [],
      ],
      () => shown(),
    )
    const { ran, served } = await serveWriter(model)
    const talk = served.talk()
    shown = () => ofType(talk.streams.at(-1)?.events ?? [], 'TOOL_CALL_ARGS').length
    vi.stubEnv('ADK_ENABLE_PROGRESSIVE_SSE_STREAMING', '1')
    const events = await talk.say('Write').finally(() => vi.unstubAllEnvs())
    expect(argsOf(events, callId(events, 'write'))).toEqual(['{"title":"Ra', 'in', '"}'])
    expect(ran).toEqual([{ title: 'Rain' }])
    expect(textIn(events)).toBe('Done.')
  })
})

const services = new Set<Server>()

afterEachTest(() => {
  for (const service of services) service.close()
  services.clear()
})

/** ADK's Gemini class. The service writes a piece of a call when the pieces before it are shown; no pieces: a text. */
async function geminiOnWire(
  answers: readonly (readonly FunctionCall[])[],
  shown: () => number,
): Promise<Gemini> {
  const left = [...answers]
  const write = async (response: ServerResponse): Promise<void> => {
    const send = (part: object, more = {}) =>
      response.write(
        `data: ${JSON.stringify({ candidates: [{ content: { role: 'model', parts: [part] }, ...more }] })}\n\n`,
      )
    const calls = left.shift() ?? []
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    let written = 0
    for (const functionCall of calls) {
      while (shown() < written) await new Promise((resolve) => setImmediate(resolve))
      send({ functionCall })
      if (functionCall.partialArgs) written++
    }
    send({ text: calls.length === 0 ? 'Done.' : '' }, { finishReason: 'STOP' })
    response.end()
  }
  const service = createServer((request, response) => {
    request.resume().on('end', () => void write(response))
  })
  services.add(service)
  await new Promise<void>((resolve) => void service.listen(0, '127.0.0.1', resolve))
  const { port } = service.address() as AddressInfo
  class OnWire extends Gemini {
    override getHttpOptions() {
      return { ...super.getHttpOptions(), baseUrl: `http://127.0.0.1:${port}` }
    }
  }
  return new OnWire({ model: 'gemini-2.5-flash', apiKey: 'test' })
}
