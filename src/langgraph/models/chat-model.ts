import type { TokenUsage, Tool as ToolInfo } from '@ag-ui/core'
import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import {
  BaseChatModel,
  type BindToolsInput,
  type LangSmithParams,
} from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, type BaseMessage, type UsageMetadata } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { isRecord } from '../../core/json.js'
import type { FinishReason, Model, ModelPart, ModelRequest } from '../../models/index.js'
import { toAgui } from '../messages/to-agui.js'
import { toExtrasKwargs } from '../messages/message-extras.js'
import { signaturesKey } from '../messages/tool-calls.js'

type BoundTools = Pick<ModelRequest, 'tools' | 'toolChoice'>

/** A LangChain chat model with `bindTools`. */
export type ChatModel = BaseChatModel & Required<Pick<BaseChatModel, 'bindTools'>>

/**
 * A model of `millrace/models` as a LangChain chat model, for graphs and for `createAgent`. It streams text, reasoning
 * and tool calls, counts tokens, and stops when it is aborted. Encrypted values go back to their provider.
 *
 * @example
 * createAgent({ model: toChatModel(demoModel()), tools: [weather] })
 */
export function toChatModel(model: Model): ChatModel {
  return new MillraceChatModel(model)
}

class MillraceChatModel extends BaseChatModel {
  readonly #model: Model
  readonly #boundTools: BoundTools

  constructor(model: Model, boundTools: BoundTools = {}) {
    super({})
    this.#model = model
    this.#boundTools = boundTools
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
    const toolChoice = fromLangChainToolChoice(options.tool_choice)
    return new MillraceChatModel(this.#model, {
      tools: tools.map(toToolInfo),
      ...(toolChoice && { toolChoice }),
    })
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    options: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const { signal = new AbortController().signal, stop } = options
    const settings = stop ? { settings: { stopSequences: stop } } : {}
    const toChunkFields = createChunkMaker()
    for await (const part of this.#model.stream({
      messages: toAgui(messages),
      signal,
      ...this.#boundTools,
      ...settings,
    })) {
      const fields = toChunkFields(part)
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

function toToolInfo(tool: BindToolsInput): ToolInfo {
  const { name, description = '', parameters } = convertToOpenAITool(tool).function
  return { name, description, parameters }
}

/** LangChain has several forms: a keyword, the name of a tool, or OpenAI's object. */
function fromLangChainToolChoice(choice: unknown): ModelRequest['toolChoice'] {
  const called = isRecord(choice) && isRecord(choice.function) ? choice.function.name : choice
  if (typeof called !== 'string') return undefined
  if (called === 'any') return 'required'
  return called === 'auto' || called === 'none' || called === 'required' ? called : { toolName: called }
}

type ChunkFields = Exclude<ConstructorParameters<typeof AIMessageChunk>[0], string>

/**
 * Turns the parts of one model call into fields of LangChain chunks; undefined for a part that adds nothing. LangChain
 * joins chunks by index, so tool calls and reasoning blocks are numbered.
 */
function createChunkMaker(): (part: ModelPart) => ChunkFields | undefined {
  const calls = new Map<string, number>()
  let reasoningIndex = 0
  let hasReasoning = false

  const callChunk = (
    toolCallId: string,
    fields: { id?: string; name?: string; args: string },
  ): ChunkFields => {
    const index = calls.get(toolCallId) ?? calls.size
    calls.set(toolCallId, index)
    return { content: '', tool_call_chunks: [{ type: 'tool_call_chunk', index, ...fields }] }
  }
  const reasoningChunk = (fields: { thinking: string; signature?: string }): ChunkFields => {
    hasReasoning = true
    return { content: [{ type: 'thinking', index: reasoningIndex, ...fields }] }
  }
  const reasoningEnd = (signature: string | undefined): ChunkFields | undefined => {
    const chunk = signature === undefined ? undefined : reasoningChunk({ thinking: '', signature })
    reasoningIndex++
    return chunk
  }

  return (part) => {
    switch (part.type) {
      case 'text-delta':
        // Beside blocks, text must have an index: otherwise each delta would become a block.
        return { content: hasReasoning ? [{ type: 'text', text: part.delta, index: 'text' }] : part.delta }
      case 'text-end':
        return textEndChunk(part.encryptedValue)
      case 'reasoning-delta':
        return reasoningChunk({ thinking: part.delta })
      case 'reasoning-end':
        return reasoningEnd(part.encryptedValue)
      case 'tool-call-start':
        return callChunk(part.toolCallId, { id: part.toolCallId, name: part.toolName, args: '' })
      case 'tool-call-delta':
        return callChunk(part.toolCallId, { args: part.delta })
      case 'tool-call-end':
        return callEndChunk(part.toolCallId, part.encryptedValue)
      case 'finish':
        return finishChunk(part.reason, part.usage)
    }
  }
}

function textEndChunk(encryptedValue: string | undefined): ChunkFields | undefined {
  return encryptedValue === undefined
    ? undefined
    : { content: '', additional_kwargs: toExtrasKwargs({ encryptedValue }) }
}

function callEndChunk(toolCallId: string, encryptedValue: string | undefined): ChunkFields | undefined {
  return encryptedValue === undefined
    ? undefined
    : { content: '', additional_kwargs: { [signaturesKey]: { [toolCallId]: encryptedValue } } }
}

function finishChunk(finish_reason: FinishReason, usage: TokenUsage | undefined): ChunkFields {
  const fields: ChunkFields = { content: '', response_metadata: { finish_reason } }
  return usage ? Object.assign(fields, { usage_metadata: toUsageMetadata(usage) }) : fields
}

function toUsageMetadata(usage: TokenUsage): UsageMetadata {
  const { inputTokens = 0, outputTokens = 0, totalTokens = inputTokens + outputTokens } = usage
  const { reasoningTokens, cachedInputTokens, cacheWriteInputTokens } = usage
  return {
    input_tokens: inputTokens,
    output_tokens: outputTokens,
    total_tokens: totalTokens,
    input_token_details: {
      ...(cachedInputTokens !== undefined && { cache_read: cachedInputTokens }),
      ...(cacheWriteInputTokens !== undefined && { cache_creation: cacheWriteInputTokens }),
    },
    output_token_details: { ...(reasoningTokens !== undefined && { reasoning: reasoningTokens }) },
  }
}
