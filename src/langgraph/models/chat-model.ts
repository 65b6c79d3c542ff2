import type { Tool as ToolInfo } from '@ag-ui/core'
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import {
  BaseChatModel,
  type BindToolsInput,
  type LangSmithParams,
} from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { isRecord } from '../../core/is-record.js'
import type { Model, ModelRequest } from '../../models/index.js'
import { toAgui } from '../input/to-agui.js'
import { createChunkMaker } from './chunk-maker.js'

type Asking = Pick<ModelRequest, 'tools' | 'toolChoice'>

/** A chat model of LangChain that can be given tools. */
export type ChatModel = BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>

/**
 * A model of `millrace/models` as a chat model of LangChain, for graphs and for `createAgent`: it streams, thinks, calls
 * tools, counts tokens, and stops when it is aborted. What a provider has sealed goes back to it.
 *
 * @example
 * createAgent({ model: toChatModel(demoModel()), tools: [weather] })
 */
export function toChatModel(model: Model): ChatModel {
  return new MillraceChatModel(model)
}

class MillraceChatModel extends BaseChatModel {
  readonly #model: Model
  readonly #asking: Asking

  constructor(model: Model, asking: Asking = {}) {
    super({})
    this.#model = model
    this.#asking = asking
  }

  static override lc_name(): string {
    return 'MillraceChatModel'
  }

  override _llmType(): string {
    return 'millrace'
  }

  override getLsParams(options: this['ParsedCallOptions']): LangSmithParams {
    const { provider, modelId } = this.#model
    return { ...super.getLsParams(options), ls_provider: provider, ls_model_name: modelId }
  }

  override bindTools(tools: BindToolsInput[], options: Partial<this['ParsedCallOptions']> = {}): ChatModel {
    const toolChoice = choiceOf(options.tool_choice)
    return new MillraceChatModel(this.#model, { tools: tools.map(toolOf), ...(toolChoice && { toolChoice }) })
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { signal = new AbortController().signal, stop } = options
    const settings = stop ? { settings: { stopSequences: stop } } : {}
    const chunksOf = createChunkMaker()
    for await (const part of this.#model.stream({
      messages: toAgui(messages),
      signal,
      ...this.#asking,
      ...settings,
    })) {
      const fields = chunksOf(part)
      if (!fields) continue
      const message = new AIMessageChunk(fields)
      const chunk = new ChatGenerationChunk({ text: message.text, message })
      yield chunk
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk })
    }
  }

  override async _generate(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    let whole = new ChatGenerationChunk({ text: '', message: new AIMessageChunk('') })
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      whole = whole.concat(chunk)
    return { generations: [whole] }
  }
}

function toolOf(tool: BindToolsInput): ToolInfo {
  const { name, description = '', parameters } = convertToOpenAITool(tool).function
  return { name, description, parameters }
}

/** LangChain says it in several ways: a word, the name of a tool, or as OpenAI wants it. */
function choiceOf(choice: unknown): ModelRequest['toolChoice'] {
  const called = isRecord(choice) && isRecord(choice.function) ? choice.function.name : choice
  if (typeof called !== 'string') return undefined
  if (called === 'any') return 'required'
  return called === 'auto' || called === 'none' || called === 'required' ? called : { toolName: called }
}
