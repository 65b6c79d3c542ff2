import type { CallbackManagerForLLMRun } from '@langchain/core/callbacks/manager'
import { BaseChatModel, type BindToolsInput } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { ChatGenerationChunk, type ChatResult } from '@langchain/core/outputs'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'
import { demoModel, type Model, type ModelPart, type ModelRequest } from 'millrace/models'

type Messages = ModelRequest['messages']
type Tools = NonNullable<ModelRequest['tools']>

/** A chat model of LangChain that needs no key and no network: the `demoModel` of `millrace/models`. */
export function demoChatModel(): DemoChatModel {
  return new DemoChatModel(demoModel({ paceMs: 0 }))
}

class DemoChatModel extends BaseChatModel {
  readonly #model: Model
  readonly #tools: Tools

  constructor(model: Model, tools: Tools = []) {
    super({})
    this.#model = model
    this.#tools = tools
  }

  override _llmType(): string {
    return 'demo'
  }

  override bindTools(tools: BindToolsInput[]) {
    return new DemoChatModel(this.#model, tools.map(toolOf))
  }

  override async *_streamResponseChunks(
    messages: BaseMessage[],
    { signal = new AbortController().signal }: this['ParsedCallOptions'],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk> {
    const request = { messages: messages.flatMap(messageOf), tools: this.#tools, signal }
    for await (const part of this.#model.stream(request)) {
      const message = chunkOf(part)
      if (!message) continue
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
    let whole: ChatGenerationChunk | undefined
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      whole = whole ? whole.concat(chunk) : chunk
    return { generations: whole ? [whole] : [] }
  }
}

function chunkOf(part: ModelPart): AIMessageChunk | undefined {
  if (part.type === 'text-delta') return new AIMessageChunk({ content: part.delta })
  if (part.type === 'reasoning-delta')
    return new AIMessageChunk({ content: '', additional_kwargs: { reasoning_content: part.delta } })
  if (part.type === 'tool-call-start')
    return callChunk({ id: part.toolCallId, name: part.toolName, args: '' })
  if (part.type === 'tool-call-delta') return callChunk({ args: part.delta })
  return undefined
}

/** The demo model makes one call at a time. */
function callChunk(fields: { readonly id?: string; readonly name?: string; readonly args: string }) {
  return new AIMessageChunk({
    content: '',
    tool_call_chunks: [{ type: 'tool_call_chunk', index: 0, ...fields }],
  })
}

function toolOf(tool: BindToolsInput): Tools[number] {
  const { name, description = '', parameters } = convertToOpenAITool(tool).function
  return { name, description, parameters }
}

function messageOf(message: BaseMessage): Messages {
  const { id = 'said', text } = message
  if (ToolMessage.isInstance(message))
    return [{ id, role: 'tool', toolCallId: message.tool_call_id, content: text }]
  if (!AIMessage.isInstance(message)) {
    return message.type === 'human' ? [{ id, role: 'user', content: text }] : []
  }
  const toolCalls = (message.tool_calls ?? []).map((call) => {
    const named = { name: call.name, arguments: JSON.stringify(call.args) }
    return { id: call.id ?? call.name, type: 'function' as const, function: named }
  })
  return [{ id, role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) }]
}
