import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'

type ChunkFields = ConstructorParameters<typeof AIMessageChunk>[0]

/** One message: its chunks, as text or whole. An Error is thrown in place of a chunk. */
export type ModelStep = readonly (string | Exclude<ChunkFields, string> | Error)[]

/** A chat model that streams messages from a script, and records its prompts. */
export class FakeModel extends BaseChatModel {
  readonly calls: BaseMessage[][] = []
  /** The tools it was bound to, call by call. */
  readonly offered: BindToolsInput[][] = []
  readonly #steps: readonly ModelStep[]
  #bound: BindToolsInput[] = []
  /** Awaited before each chunk. */
  readonly #gate: (() => Promise<void>) | undefined

  constructor(steps: readonly ModelStep[], gate?: () => Promise<void>) {
    super({})
    this.#steps = steps
    this.#gate = gate
  }

  override _llmType(): string {
    return 'fake'
  }

  override bindTools(tools: BindToolsInput[]): this {
    this.#bound = tools
    return this
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const step = this.#steps[this.calls.length]
    this.calls.push(messages)
    this.offered.push(this.#bound)
    if (!step) throw new Error(`The script has no answer ${this.calls.length}.`)
    for (const piece of step) {
      await this.#gate?.()
      options.signal?.throwIfAborted()
      if (piece instanceof Error) throw piece
      const message = new AIMessageChunk(typeof piece === 'string' ? { content: piece } : piece)
      const text = typeof message.content === 'string' ? message.content : ''
      const chunk = new ChatGenerationChunk({ text, message })
      yield chunk
      await runManager?.handleLLMNewToken(text, undefined, undefined, undefined, undefined, { chunk })
    }
  }

  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      whole = whole ? whole.concat(chunk) : chunk
    if (!whole) throw new Error('The script has an empty answer.')
    return { generations: [whole] }
  }
}

/** The chunks of a tool call: its name first, its arguments in two halves. */
export function callChunks(
  id: string,
  name: string,
  args: unknown,
  index = 0,
): Exclude<ChunkFields, string>[] {
  const text = JSON.stringify(args)
  const half = Math.ceil(text.length / 2)
  const piece = (fields: object) => ({
    content: '',
    tool_call_chunks: [{ index, type: 'tool_call_chunk' as const, ...fields }],
  })
  return [
    piece({ id, name, args: '' }),
    piece({ args: text.slice(0, half) }),
    piece({ args: text.slice(half) }),
  ]
}
