import { AIMessage, HumanMessage } from '@langchain/core/messages'
import {
  Annotation,
  type BaseCheckpointSaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from '@langchain/langgraph'
import { LlmAgent, requestInputTool } from '@google/adk'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fromAdk } from '../../src/adk/index.js'
import { fromLangGraph } from '../../src/langgraph/index.js'
import { callsTool, says, ScriptedLlm } from '../support/adk/scripted-llm.js'
import { requestLines, serveAdk } from '../support/adk/serve-adk.js'
import { serveGraph, stateOf } from '../support/langgraph/serve-graph.js'
import { clientVersions, type Talk } from '../support/serve-agents.js'

/** Sends the list again, from its beginning to the message at an index, which gets another text if there is one. */
function sendUpTo(talk: Talk, index: number, content?: string) {
  const { client } = talk
  const messages = client.messages.slice(0, index + 1)
  const last = messages.at(-1)
  const edited = content === undefined ? last : ({ ...last, content } as typeof last)
  client.setMessages([...messages.slice(0, -1), ...(edited ? [edited] : [])])
  return talk.send()
}

describe.each(clientVersions)('with the client $version', ({ Client }) => {
  describe('an ADK agent whose answers are data, in no message', () => {
    const serve = async () => {
      const llm = new ScriptedLlm([1, 2, 3, 4, 5].map((a) => says(`{"a":`, `${a}}`)))
      const outputSchema = z.object({ a: z.number() })
      const make = () => fromAdk(new LlmAgent({ name: 'counter', model: llm, outputSchema }))
      const talk = (await serveAdk({ make })).talk({ Client })
      for (const text of ['One', 'Two', 'Three']) await talk.say(text)
      return { llm, talk }
    }

    it('answers an edited message, without what it said to the old one', async () => {
      const { llm, talk } = await serve()
      const events = await sendUpTo(talk, 1, 'Zwei')
      expect(requestLines(llm.calls[3])).toEqual(['user: One', 'model: {"a":1}', 'user: Zwei'])
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { a: 4 } })
      await talk.say('Next')
      expect(requestLines(llm.calls[4]).slice(2)).toEqual(['user: Zwei', 'model: {"a":4}', 'user: Next'])
    })

    it('answers the last message again when the list comes with a new run id', async () => {
      const { llm, talk } = await serve()
      const before = requestLines(llm.calls[2])
      const events = await sendUpTo(talk, 2)
      expect(requestLines(llm.calls[3])).toEqual(before)
      expect(events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', result: { a: 4 } })
      await talk.say('Next')
      expect(requestLines(llm.calls[4]).slice(4)).toEqual(['user: Three', 'model: {"a":4}', 'user: Next'])
    })
  })

  it('an ADK agent asks the person again, for an edited message too', async () => {
    const { name } = requestInputTool
    const ask = callsTool({ name, args: { message: 'Who?' } })
    const llm = new ScriptedLlm([ask, says('Hi Ann'), ask, says('Hi Bob'), ask, says('Hi Cid')])
    const make = () => fromAdk(new LlmAgent({ name: 'greeter', model: llm, tools: [requestInputTool] }))
    const talk = (await serveAdk({ make })).talk({ Client })
    const { client } = talk
    const answer = (payload: string) => {
      const [open] = client.pendingInterrupts
      return talk.send({ resume: [{ interruptId: open?.id ?? '', status: 'resolved', payload }] })
    }
    await talk.say('Greet')
    await answer('Ann')
    await sendUpTo(talk, 0)
    await answer('Bob')
    expect(client.messages.map(({ content }) => content)).toEqual(['Greet', 'Hi Bob'])
    await sendUpTo(talk, 0, 'Greet again')
    await answer('Cid')
    expect(client.messages.map(({ content }) => content)).toEqual(['Greet again', 'Hi Cid'])
    expect(llm.calls.slice(2).map((call) => requestLines(call).length)).toEqual([1, 3, 1, 3])
  })

  describe('a graph whose answers are state alone', () => {
    const serve = async () => {
      const seen: (readonly string[])[] = []
      const State = Annotation.Root({
        ...MessagesAnnotation.spec,
        drawn: Annotation<string[]>({ reducer: (a, b) => [...a, ...b], default: () => [] }),
      })
      const make = (checkpointer: BaseCheckpointSaver) =>
        fromLangGraph(
          new StateGraph(State)
            .addNode('draw', ({ messages, drawn }) => {
              seen.push(drawn)
              return { drawn: [messages.at(-1)?.text ?? ''] }
            })
            .addEdge(START, 'draw')
            .compile({ checkpointer }),
          { name: 'painter' },
        )
      const served = await serveGraph({ make })
      const talk = served.talk({ Client })
      for (const text of ['one', 'two', 'three']) await talk.say(text)
      return { seen, served, talk }
    }

    it('answers an edited message, and the last one again, from the state before it', async () => {
      const { seen, served, talk } = await serve()
      await sendUpTo(talk, 2)
      expect(seen[3]).toEqual(['one', 'two'])
      expect(talk.client.state).toEqual({ drawn: ['one', 'two', 'three'] })
      await sendUpTo(talk, 1, 'zwei')
      expect(seen[4]).toEqual(['one'])
      expect(talk.client.state).toEqual({ drawn: ['one', 'zwei'] })
      expect(await stateOf(served)).toEqual(talk.client.state)
    })
  })

  describe('a graph with messages of its own that no client sees', () => {
    const serve = async () => {
      const seen: (readonly string[])[] = []
      const State = Annotation.Root({
        ...MessagesAnnotation.spec,
        turns: Annotation<number>({ reducer: (a, b) => a + b, default: () => 0 }),
      })
      const make = (checkpointer: BaseCheckpointSaver) =>
        fromLangGraph(
          new StateGraph(State)
            .addNode('research', ({ messages }) => ({
              messages: [new HumanMessage(`found ${messages.at(-1)?.text}`)],
              turns: 1,
            }))
            .addNode('answer', ({ messages }) => {
              seen.push(messages.map((message) => `${message.type}: ${message.text}`))
              return { messages: [new AIMessage(`answer ${seen.length}`)] }
            })
            .addEdge(START, 'research')
            .addEdge('research', 'answer')
            .compile({ checkpointer }),
          { name: 'researcher' },
        )
      const served = await serveGraph({ make, store: 'sqlite', checkpoints: 'sqlite' })
      const talk = served.talk({ Client })
      for (const text of ['one', 'two', 'three']) await talk.say(text)
      return { seen, talk }
    }

    it('keeps those before a message that is answered again', async () => {
      const { seen, talk } = await serve()
      await sendUpTo(talk, 4)
      expect(seen[3]).toEqual(seen[2])
      expect(talk.client.state).toEqual({ turns: 3 })
    })

    it('keeps those before a message that is edited', async () => {
      const { seen, talk } = await serve()
      await sendUpTo(talk, 2, 'zwei')
      expect(seen[3]).toEqual([
        ...['human: one', 'human: found one', 'ai: answer 1'],
        ...['human: zwei', 'human: found zwei'],
      ])
      expect(talk.client.state).toEqual({ turns: 2 })
      await talk.say('next')
      expect(seen[4]?.slice(3)).toEqual([
        ...['human: zwei', 'human: found zwei', 'ai: answer 4'],
        ...['human: next', 'human: found next'],
      ])
    })
  })

  it.each(['interruptBefore', 'interruptAfter'] as const)(
    'a message that is answered again stops at the breakpoint of %s',
    async (breakpoint) => {
      const seen: string[] = []
      const make = (checkpointer: BaseCheckpointSaver) =>
        fromLangGraph(
          new StateGraph(MessagesAnnotation)
            .addNode('plan', () => ({}))
            .addNode('pay', () => {
              seen.push('paid')
              return { messages: [new AIMessage('Paid.')] }
            })
            .addEdge(START, 'plan')
            .addEdge('plan', 'pay')
            .compile({ checkpointer, [breakpoint]: [breakpoint === 'interruptBefore' ? 'pay' : 'plan'] }),
          { name: 'payer' },
        )
      const talk = (await serveGraph({ make })).talk({ Client })
      const { client } = talk
      const approve = () => {
        const [open] = client.pendingInterrupts
        return talk.send({ resume: [{ interruptId: open?.id ?? '', status: 'resolved', payload: {} }] })
      }
      await talk.say('Pay')
      await approve()
      expect(seen).toHaveLength(1)
      await sendUpTo(talk, 0)
      expect(seen).toHaveLength(1)
      await approve()
      expect(seen).toHaveLength(2)
      expect(client.messages.map(({ content }) => content)).toEqual(['Pay', 'Paid.'])
    },
  )
})
