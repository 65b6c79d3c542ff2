/* eslint-disable @typescript-eslint/no-deprecated -- composites are on their way out, and in use */
import {
  BaseLlm,
  FunctionTool,
  LlmAgent,
  SequentialAgent,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { clientTools, fromAdk } from '../../src/adk/index.js'
import type { AgUiEvent } from '../../src/protocol/index.js'
import { callsIn, clientTool, serveAdk } from '../support/adk/serve-adk.js'
import { partial, whole } from '../support/adk/scripted-llm.js'

/** Echoes: calls the one tool of the client with the word it was told, and then says what it was given for it. */
class Echo extends BaseLlm {
  constructor() {
    super({ model: 'echo' })
  }

  override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const { contents, toolsDict } = request
    const texts = contents.flatMap(({ parts = [] }) => parts.map(({ text = '' }) => text))
    const word = /word-\d+-\d+/.exec(texts.join(' '))?.[0] ?? 'no word'
    const results = contents.flatMap(({ parts = [] }) =>
      parts.flatMap(({ functionResponse }) => functionResponse ?? []),
    )
    // So that runs interleave.
    await new Promise((resolve) => setImmediate(resolve))
    const answer = results.findLast(({ name }) => name !== 'own')
    if (answer) {
      yield partial(`${word} `)
      await new Promise((resolve) => setImmediate(resolve))
      yield whole([{ text: `${word} ${JSON.stringify(answer.response)}` }])
      return
    }
    const [tool = 'none'] = Object.keys(toolsDict).filter((name) => name.startsWith('tool_'))
    yield whole([
      { functionCall: { name: 'own', args: { word } } },
      { functionCall: { name: tool, args: { word } } },
    ])
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('none'))
  }
}

const own = new FunctionTool({
  name: 'own',
  description: 'Notes a word.',
  parameters: z.object({ word: z.string() }),
  execute: ({ word }, context) => {
    context?.state.set('word', word)
    return { noted: word }
  },
})

const users = 20
const threads = 10
const everyWord = /word-\d+-\d+/g
const everyTool = /tool_\d+_\d+/g

it('200 runs of 20 users at once on one agent have nothing of each other', async () => {
  const echo = new LlmAgent({ name: 'echo', model: new Echo(), tools: [own, clientTools()] })
  const root = new SequentialAgent({ name: 'line', subAgents: [echo] })
  const looks = (): string =>
    JSON.stringify([
      echo.tools.length,
      Object.keys(echo).toSorted(),
      Object.keys(root).toSorted(),
      root.subAgents[0] === echo,
      echo.parentAgent === root,
      echo.includeContents,
    ])
  const before = looks()
  const served = await serveAdk({
    make: () => fromAdk(root),
    identify: (request) => ({ user: request.headers.get('x-user') ?? '' }),
  })

  /** One conversation: a word, a tool of its own, a result, and all of it back. The thread ids are the same for all users. */
  const converse = async (user: number, thread: number): Promise<void> => {
    const id = `${user}-${thread}`
    const name = `tool_${user}_${thread}`
    const headers = { 'x-user': `user-${user}` }
    const talk = served.talk({ threadId: `thread-${thread}`, headers })
    const tools = [clientTool(name)]
    const first = await talk.say(`word-${id}`, { tools })
    const calls = callsIn(first)
    expect(calls.map((call) => call.name)).toEqual(['own', name])
    const second = await talk.answer({ [calls[1]?.id ?? '']: `result of word-${id}` }, { tools })
    expect(second.at(-1)?.type).toBe('RUN_FINISHED')
    const all = JSON.stringify(talk.streams.map(({ events }: { events: readonly AgUiEvent[] }) => events))
    expect(new Set(all.match(everyWord))).toEqual(new Set([`word-${id}`]))
    expect(new Set(all.match(everyTool))).toEqual(new Set([name]))
    expect(talk.client.messages.at(-1)?.content).toBe(`word-${id} {"result":"result of word-${id}"}`)
    expect(talk.client.state).toEqual({ word: `word-${id}` })
  }
  const all = Array.from({ length: users * threads }, (_, n) => converse(n % users, Math.floor(n / users)))
  await Promise.all(all)
  expect(looks()).toBe(before)
}, 120_000)
