// @ts-nocheck
import { test } from 'vitest'
import { LLMock } from '@copilotkit/aimock'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenAI as o2 } from 'ai-sdk-openai-v2'
import { createOpenAI as o4 } from 'ai-sdk-openai-v4'
import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { fromAiSdk } from '../../src/models/index.js'
test('probe', async () => {
const mock = await LLMock.create({ port: 0 })
mock.onMessage('hello', { content: 'Hi there, my friend!', reasoning: 'think about it' })
mock.onMessage('weather', { content: 'Let me look.', toolCalls: [{ name: 'w', arguments: '{"city":"Oslo"}', id: 'call_1' }, { name: 'w', arguments: '{"city":"Rome"}', id:'call_2' }] })
const models = {
 v2chat: o2({ baseURL: mock.url + '/v1', apiKey: 'x' }).chat('gpt-4o'),
 v2resp: o2({ baseURL: mock.url + '/v1', apiKey: 'x' }).responses('gpt-5'),
 v3chat: createOpenAI({ baseURL: mock.url + '/v1', apiKey: 'x' }).chat('gpt-4o'),
 v3resp: createOpenAI({ baseURL: mock.url + '/v1', apiKey: 'x' }).responses('gpt-5'),
 v4chat: o4({ baseURL: mock.url + '/v1', apiKey: 'x' }).chat('gpt-4o'),
 v4resp: o4({ baseURL: mock.url + '/v1', apiKey: 'x' }).responses('gpt-5'),
 anth: createAnthropic({ baseURL: mock.url + '/v1', apiKey: 'x' })('claude-sonnet-4-5'),
 goog: createGoogleGenerativeAI({ baseURL: mock.url + '/v1beta', apiKey: 'x' })('gemini-2.5-flash'),
}
for (const [name, m] of Object.entries(models)) {
  for (const q of ['hello', 'weather', 'nothing']) {
    console.log('==', name, q, m.specificationVersion, m.provider)
    try {
    for await (const p of fromAiSdk(m, { onWarning: (w) => console.log('warn', w) }).stream({ instructions: 'Be nice', messages: [{ id: '1', role: 'user', content: q }], tools: [{ name: 'w', description: 'weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } }], signal: new AbortController().signal })) console.log(JSON.stringify(p))
    } catch (e) { console.log(String(e), e.details) }
  }
}
await mock.stop()

})
