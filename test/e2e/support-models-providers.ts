import type { AssistantMessage, Message } from '@ag-ui/core'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import { LLMock } from '@copilotkit/aimock'
import { createOpenAI as createOpenAIV2 } from 'ai-sdk-openai-v2'
import { createOpenAI as createOpenAIV4 } from 'ai-sdk-openai-v4'
import { fromAiSdk, type AiSdkLanguageModel, type ModelPart } from '../../src/models/index.js'
import { afterEachTest } from '../support/after-each-test.js'
import { strictRefusal } from './support-models-strict.js'

interface Connection {
  readonly baseURL: string
  readonly apiKey: string
  readonly fetch: typeof fetch
}

/** Which wire format a client speaks. */
export type Api = 'chat' | 'responses' | 'messages' | 'gemini'

/** The real clients, by the version of the provider specification they implement. */
export const clients: readonly {
  readonly name: string
  readonly api: Api
  readonly create: (connection: Connection) => AiSdkLanguageModel
}[] = [
  { name: 'OpenAI v2 chat', api: 'chat', create: (to) => createOpenAIV2(to).chat('gpt-4o') },
  { name: 'OpenAI v3 chat', api: 'chat', create: (to) => createOpenAI(to).chat('gpt-4o') },
  { name: 'OpenAI v4 chat', api: 'chat', create: (to) => createOpenAIV4(to).chat('gpt-4o') },
  {
    name: 'OpenAI v2 responses',
    api: 'responses',
    create: (to) => createOpenAIV2(to).responses('gpt-5-mini'),
  },
  { name: 'OpenAI v3 responses', api: 'responses', create: (to) => createOpenAI(to).responses('gpt-5-mini') },
  {
    name: 'OpenAI v4 responses',
    api: 'responses',
    create: (to) => createOpenAIV4(to).responses('gpt-5-mini'),
  },
  { name: 'Anthropic v3', api: 'messages', create: (to) => createAnthropic(to)('claude-sonnet-4-5') },
  {
    name: 'Google v3',
    api: 'gemini',
    create: (to) => createGoogleGenerativeAI(to)('gemini-3-flash-preview'),
  },
]

/** Those clients that speak one of these formats. */
export function speaking(...apis: readonly Api[]) {
  return clients.filter(({ api }) => apis.includes(api))
}

/** A model behind a real client that talks to `origin`, and what it put on the wire. */
export function connect({ api, create }: (typeof clients)[number], origin: string) {
  const bodies: Record<string, unknown>[] = []
  const warnings: string[] = []
  const source = create({
    baseURL: `${origin}${api === 'gemini' ? '/v1beta' : '/v1'}`,
    apiKey: 'test',
    fetch: (input, init) => {
      const body = JSON.parse(init?.body as string) as Record<string, unknown>
      bodies.push(body)
      const refusal = strictRefusal(body)
      return refusal ? Promise.resolve(refusal) : fetch(input, init)
    },
  })
  return { model: fromAiSdk(source, { onWarning: (message) => warnings.push(message) }), bodies, warnings }
}

const mocks = new Set<LLMock>()

afterEachTest(async () => {
  await Promise.all([...mocks].map((mock) => mock.stop()))
  mocks.clear()
})

/** A mock provider on a free loopback port, until the test ends. */
export async function startMock(options: { readonly chunkSize?: number } = {}): Promise<LLMock> {
  const mock = await LLMock.create({ port: 0, ...options })
  mocks.add(mock)
  return mock
}

/** The messages that an answer leaves in the history. */
export function messagesOf(parts: readonly ModelPart[]): Message[] {
  const messages: Message[] = []
  const calls: NonNullable<AssistantMessage['toolCalls']> = []
  let words = ''
  for (const part of parts) {
    const id = `m${messages.length}`
    const encrypted = 'encryptedValue' in part ? { encryptedValue: part.encryptedValue } : {}
    if (part.type === 'text-delta' || part.type === 'reasoning-delta') words += part.delta
    if (part.type === 'text-end' || part.type === 'reasoning-end') {
      const role = part.type === 'text-end' ? 'assistant' : 'reasoning'
      messages.push({ id, role, content: words, ...encrypted })
      words = ''
    }
    if (part.type === 'tool-call-start')
      calls.push({ id: part.toolCallId, type: 'function', function: { name: part.toolName, arguments: '' } })
    const call = 'toolCallId' in part ? calls.find(({ id: callId }) => callId === part.toolCallId) : undefined
    if (part.type === 'tool-call-delta' && call) call.function.arguments += part.delta
    if (part.type === 'tool-call-end' && call) Object.assign(call, encrypted)
  }
  return calls.length === 0 ? messages : [...messages, { id: 'calls', role: 'assistant', toolCalls: calls }]
}
