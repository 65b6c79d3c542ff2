import type { Message } from '@ag-ui/core'
import { MemorySaver } from '@langchain/langgraph'
import { createAgent, piiMiddleware, type AgentMiddleware } from 'langchain'
import { describe, expect, it } from 'vitest'
import { isRecord } from '../../src/core/json.js'
import { defineAgent, sequential, type Agent } from '../../src/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { scriptedModel } from '../../src/models/index.js'
import type { Hooks } from '../../src/server/index.js'
import { fetchServer, user } from '../support/fetch-server.js'
import { agentModel, historyOf } from '../support/langgraph/serve-graph.js'
import { ofType } from '../support/run-agent.js'
import { linesOf, serveAgents, type ServeAgentsOptions } from '../support/serve-agents.js'
import { servedRemote } from './support-remote.js'

const secret = '4711'

function withUserTexts(
  change: (text: string, isNewest: boolean) => string,
): NonNullable<Hooks['inputChange']> {
  return (input) => ({
    ...input,
    messages: input.messages.map((message): Message => {
      if (message.role !== 'user' || typeof message.content !== 'string') return message
      return { ...message, content: change(message.content, message === input.messages.at(-1)) }
    }),
  })
}

const redact = (text: string): string => text.replace(/\d{4}/, '[pin]')
const redactAll = withUserTexts(redact)
const redactNewest = withUserTexts((text, isNewest) => (isNewest ? redact(text) : text))

/** Adds another time in each request, to every message. */
function addTime(): NonNullable<Hooks['inputChange']> {
  let minute = 0
  return withUserTexts((text) => `${text} (12:${++minute})`)
}

const parrot = (name = 'parrot'): Agent =>
  defineAgent({ name, description: 'Talks.', model: scriptedModel((_, n) => `Answer ${n + 1}.`) })

const parrotWith = (inputChange: NonNullable<Hooks['inputChange']>): ServeAgentsOptions => ({
  agents: [parrot()],
  hooks: { inputChange },
  store: 'sqlite',
})

/** The metadata of all messages of users, however deep. */
function userMetadata(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap(userMetadata)
  if (!isRecord(value)) return []
  const own = value.role === 'user' && value.metadata !== undefined ? [value.metadata] : []
  return [...own, ...Object.values(value).flatMap(userMetadata)]
}

const rewritten = { millrace: { rewritten: true } }

describe('of a text that a hook redacts', () => {
  it('nothing is left, not even a fingerprint: in streams, in histories, for other servers', async () => {
    const far = await servedRemote({ agents: [parrot('far')] })
    const flow = sequential({ name: 'flow', agents: [parrot(), far.agent()] })
    const served = await serveAgents({ agents: [flow], hooks: { inputChange: redactNewest } })
    const talk = served.talk()
    await talk.say(`My pin is ${secret}.`)
    await talk.say('And?')
    const { events } = await served.stream('/connect', { body: { threadId: 'thread-1' } })
    const seen = [talk.streams.map((one) => one.events), events, await historyOf(served)]
    const all = [...seen, far.streams.map(({ input }) => input)]
    expect(JSON.stringify(all)).not.toContain(secret)
    const marks = userMetadata(all)
    expect(marks.length).toBeGreaterThan(0)
    for (const mark of marks) expect(mark).toEqual(rewritten)
    // Nor need other servers know our tree of agents.
    expect(JSON.stringify(far.streams.map(({ input }) => input))).not.toContain('millrace.at')
  })

  it('nothing is left in the store, during the run and after it', async () => {
    const key = { app: 'default', user: 'local', agent: 'talker', thread: 'thread-1' }
    const during: unknown[] = []
    const agent: Agent = {
      name: 'talker',
      description: '',
      async *run(ctx) {
        during.push(ctx.messages, await made.store.threads.load(key))
        yield { type: 'TEXT_MESSAGE_CHUNK', messageId: ctx.services.newId('message'), delta: 'Fine.' }
        return { type: 'done' }
      },
    }
    const made = fetchServer({ agents: [agent], hooks: { inputChange: redactNewest } })
    await made.run({ messages: [user('u1', `My pin is ${secret}.`)] })
    const all = [during, await made.store.threads.load(key)]
    expect(JSON.stringify(all)).not.toContain(secret)
    expect(userMetadata(all)).toEqual([rewritten, rewritten, rewritten])
  })
})

describe.each([
  ['redacts what is new', redactNewest],
  ['redacts all', redactAll],
  ['changes all in each request', addTime()],
])('with a hook that %s', (_what, inputChange) => {
  it('a client that still has its own words has edited nothing, also after a restart', async () => {
    const served = await serveAgents(parrotWith(inputChange))
    const talk = served.talk()
    await talk.say(`My pin is ${secret}.`)
    await talk.say('And?')
    talk.client.url = (await served.restart()).url
    const events = await talk.say('And now?')
    expect(ofType(events, 'CUSTOM')).toEqual([])
    expect(talk.client.messages.map(({ role }) => role)).toEqual(Array(3).fill(['user', 'assistant']).flat())
  })

  it('a message that the person edits is edited, also after a restart', async () => {
    const served = await serveAgents(parrotWith(inputChange))
    const talk = served.talk()
    await talk.say(`My pin is ${secret}.`)
    await talk.say('And?')
    const again = await served.restart()
    const [first] = talk.client.messages
    const edited = again.talk()
    edited.client.setMessages([{ ...first, id: first?.id ?? '', role: 'user', content: 'No pin.' }])
    expect(ofType(await edited.send(), 'CUSTOM')).toMatchObject([{ name: 'millrace.forked' }])
    const [line, ...rest] = linesOf(await historyOf(again))
    expect(line).toContain('No pin.')
    expect(rest).toHaveLength(1)
  })

  it('a request that is sent again is not run again', async () => {
    const served = await serveAgents(parrotWith(inputChange))
    const body = {
      ...{ threadId: 'thread-1', runId: 'run-1', state: {}, tools: [], context: [], forwardedProps: {} },
      messages: [user('u1', `My pin is ${secret}.`)],
    }
    await served.stream('/', { body })
    const { events } = await served.stream('/', { body })
    expect(ofType(events, 'CUSTOM')).toEqual([])
    expect(linesOf(await historyOf(served)).slice(1)).toEqual(['assistant: Answer 1.'])
  })
})

it('of a text that an agent redacts, no fingerprint is left either', async () => {
  const graph = createAgent({
    model: agentModel([['Hello.'], ['Bye.']]),
    tools: [],
    checkpointer: new MemorySaver(),
    middleware: [piiMiddleware('email', {})] as unknown as AgentMiddleware[],
  })
  const served = await serveAgents({ agents: [fromLangGraph(graph, { name: 'helper' })] })
  const talk = served.talk()
  await talk.say('I am bob@x.org.')
  const fresh = await served.stream('/connect', { body: { threadId: 'thread-1' } })
  const all = [talk.client.messages, fresh.events, await historyOf(served)]
  expect(JSON.stringify(all)).not.toContain('bob@x.org')
  for (const mark of userMetadata(all)) expect(mark).toEqual(rewritten)
})
