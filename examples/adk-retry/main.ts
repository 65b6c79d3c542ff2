/**
 * `AdkSession`: a Runner of ADK bound to one session, which tries again when the model fails. It yields ADK's own events, and
 * no tool runs twice.
 */
import assert from 'node:assert/strict'
import {
  BaseLlm,
  FunctionTool,
  InMemorySessionService,
  LlmAgent,
  Runner,
  type BaseLlmConnection,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
import { AdkSession, demoLlm } from 'millrace/adk'
import { z } from 'zod'

/** Fails after every tool call, once. */
class FlakyLlm extends BaseLlm {
  readonly #demo = demoLlm()
  #hasFailed = false

  async *generateContentAsync(request: LlmRequest, stream?: boolean): AsyncGenerator<LlmResponse, void> {
    const last = request.contents.at(-1)?.parts ?? []
    if (!this.#hasFailed && last.some(({ functionResponse }) => functionResponse)) {
      this.#hasFailed = true
      throw Object.assign(new Error('The model is overloaded.'), { status: 503 })
    }
    yield* this.#demo.generateContentAsync(request, stream)
  }

  connect(): Promise<BaseLlmConnection> {
    return Promise.reject(new Error('This model has no live connection.'))
  }
}

let booked = 0
const book = new FunctionTool({
  name: 'book_table',
  description: 'Books a table.',
  parameters: z.object({ name: z.string() }),
  execute: ({ name }) => `A table for ${name}, number ${++booked}.`,
})
const agent = new LlmAgent({ name: 'waiter', model: new FlakyLlm({ model: 'flaky' }), tools: [book] })
const sessionService = new InMemorySessionService()
const id = { appName: 'tables', userId: 'ann', sessionId: 's1' }
await sessionService.createSession(id)
const runner = new Runner({ appName: id.appName, agent, sessionService })

const session = new AdkSession({ ...id, runner, maxRetries: 3, delayMs: 10 })
let answer = ''
let retries = 0
for await (const event of session.runAsync('Do a book_table for "Ann".')) {
  if (event.errorCode === 'RETRY_ATTEMPT') {
    retries++
    console.log(event.errorMessage)
  } else if (!event.partial) answer = event.content?.parts?.map(({ text }) => text ?? '').join('') ?? ''
}
console.log('answer:', answer)
assert.equal(retries, 1)
assert.equal(booked, 1, 'the tool ran once')
assert.match(answer, /Ann/)
assert.ok(session.isReady())
await session.cleanup()
