import { BaseCallbackHandler } from '@langchain/core/callbacks/base'
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { MemorySaver, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { run } from 'millrace'
import { fromLangGraph } from 'millrace/langgraph'
import { createSseEncoder } from 'millrace/protocol'
import { runOfficial } from './official.js'

const batch = 64

/** A model that streams a number of deltas of a given length. */
class Talkative extends BaseChatModel {
  pieces = 1
  characters = 20
  /** Called before the last delta. */
  atTheEnd: () => void = () => undefined

  override _llmType(): string {
    return 'talkative'
  }

  override async *_streamResponseChunks(
    _messages: BaseMessage[],
    _options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    for (let n = 0; n < this.pieces; n++) {
      if (n === this.pieces - 1) this.atTheEnd()
      const text = `token ${n} `.padEnd(this.characters, 'of the answer ')
      const chunk = new ChatGenerationChunk({ text, message: new AIMessageChunk({ content: text }) })
      yield chunk
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }

  override _generate(): Promise<ChatResult> {
    return Promise.reject(new Error('it was asked for an answer that does not stream'))
  }
}

/** Makes models stream, as every callback handler for tokens does, and does nothing else. */
class Idle extends BaseCallbackHandler {
  readonly name = 'idle'
  readonly lc_prefer_streaming = true
  pieces = 0

  constructor() {
    super({ _awaitHandler: true })
  }

  override handleLLMNewToken(): void {
    this.pieces++
  }
}

export const model = new Talkative({})

export function newGraph() {
  return new StateGraph(MessagesAnnotation)
    .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'talk')
    .compile({ checkpointer: new MemorySaver() })
}

/** One way to run the graph: prepares a function that is timed and returns the number of deltas. */
export type Contestant = () => () => Promise<number>

const input = { messages: [{ role: 'user', content: 'Go on.' }] }
const configurable = { thread_id: 't' }

/** The least that a graph whose model streams can cost. */
const floor: Contestant = () => {
  const graph = newGraph()
  return async () => {
    const idle = new Idle()
    await graph.invoke(input, { configurable, callbacks: [idle] })
    return idle.pieces
  }
}

/** LangGraph's own event stream, without translation. */
const streamEvents: Contestant = () => {
  const graph = newGraph()
  return async () => {
    let events = 0
    for await (const _event of graph.streamEvents(input, { version: 'v2', configurable })) events++
    return events
  }
}

/** The adapter of the AG-UI project. It needs a LangGraph server; here it gets one that costs nothing. */
const official: Contestant = () => {
  const graph = newGraph()
  return () => runOfficial(graph)
}

type Take = (event: Parameters<ReturnType<typeof createSseEncoder>>[0]) => void

/** Through `fromLangGraph`, with some work per event. */
function millrace(take: () => Take): Contestant {
  return () => {
    const agent = fromLangGraph(newGraph(), { name: 'talker' })
    return async () => {
      const consume = take()
      let events = 0
      for await (const event of run(agent, 'Go on.')) {
        events++
        consume(event)
      }
      return events
    }
  }
}

/** The bytes of the last encoded run. */
export const sent = { bytes: 0 }

/** Joins the frames of one tick into one chunk of bytes, as the server does. */
function toBytes(): Take {
  const encode = createSseEncoder('run-1')
  const encoder = new TextEncoder()
  let [pending, seq] = ['', 0]
  sent.bytes = 0
  return (event) => {
    pending += encode(event, seq++)
    if (seq % batch > 0 && !event.type.startsWith('RUN_')) return
    sent.bytes += encoder.encode(pending).length
    pending = ''
  }
}

export const contestants = {
  floor: { name: 'invoke, idle handler', prepare: floor },
  v2: { name: 'bare streamEvents v2', prepare: streamEvents },
  ours: { name: 'run(fromLangGraph())', prepare: millrace(() => () => undefined) },
  bytes: { name: '... to SSE bytes', prepare: millrace(toBytes) },
  official: { name: '@ag-ui/langgraph', prepare: official },
} as const
