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

/** A model that says so many pieces of so many characters. */
class Talkative extends BaseChatModel {
  pieces = 1
  characters = 20
  /** Called before the last piece. */
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

/** Makes models stream, as all who watch them do, and does nothing else. */
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

/** Of all contestants. */
export const model = new Talkative({})

function newGraph() {
  return new StateGraph(MessagesAnnotation)
    .addNode('talk', async ({ messages }) => ({ messages: [await model.invoke(messages)] }))
    .addEdge(START, 'talk')
    .compile({ checkpointer: new MemorySaver() })
}

/** One way to run the graph. Made ready first; what it gives is timed. It counts what came out. */
export type Contestant = () => () => Promise<number>

const input = { messages: [{ role: 'user', content: 'Go on.' }] }
const configurable = { thread_id: 't' }

/** As little as a graph whose model streams can cost. */
const floor: Contestant = () => {
  const graph = newGraph()
  return async () => {
    const idle = new Idle()
    await graph.invoke(input, { configurable, callbacks: [idle] })
    return idle.pieces
  }
}

/** What LangGraph has for this, with nothing made of it. */
const streamEvents: Contestant = () => {
  const graph = newGraph()
  return async () => {
    let events = 0
    for await (const _event of graph.streamEvents(input, { version: 'v2', configurable })) events++
    return events
  }
}

/** The adapter of the AG-UI project. It wants a LangGraph server; here it gets one that costs nothing. */
const official: Contestant = () => {
  const graph = newGraph()
  return () => runOfficial(graph)
}

type Take = (event: Parameters<ReturnType<typeof createSseEncoder>>[0]) => void

/** Through `fromLangGraph`, with something done to each event. */
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

/** The bytes of the last run that was made into bytes. */
export const sent = { bytes: 0 }

/** Frames of one tick in one chunk of bytes, as the server writes them. */
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
