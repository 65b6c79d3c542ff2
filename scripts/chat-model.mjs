import { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessage, AIMessageChunk, ToolMessage } from '@langchain/core/messages'
import { ChatGenerationChunk } from '@langchain/core/outputs'
import { convertToOpenAITool } from '@langchain/core/utils/function_calling'

/**
 * Any model of Millrace as a chat model of LangChain, so that all demo agents have the same one. Text only.
 *
 * @param {import('millrace/models').Model} model
 */
export function chatModelOf(model) {
  return new ChatModel(model)
}

class ChatModel extends BaseChatModel {
  #model
  #tools

  constructor(model, tools = []) {
    super({})
    this.#model = model
    this.#tools = tools
  }

  _llmType() {
    return 'millrace'
  }

  bindTools(tools) {
    return new ChatModel(this.#model, tools.map(toolOf))
  }

  async *_streamResponseChunks(messages, { signal = new globalThis.AbortController().signal }, runManager) {
    const system = messages.filter(({ type }) => type === 'system').map(({ text }) => text)
    const instructions = system.join('\n')
    const indexes = new Map()
    const request = { instructions, messages: messages.flatMap(messageOf), tools: this.#tools, signal }
    for await (const part of this.#model.stream(request)) {
      const fields = fieldsOf(part, indexes)
      if (!fields) continue
      const message = new AIMessageChunk({ content: '', ...fields })
      const chunk = new ChatGenerationChunk({ text: message.text, message })
      yield chunk
      await runManager?.handleLLMNewToken(chunk.text, undefined, undefined, undefined, undefined, { chunk })
    }
  }

  async _generate(messages, options, runManager) {
    let whole
    for await (const chunk of this._streamResponseChunks(messages, options, runManager))
      whole = whole ? whole.concat(chunk) : chunk
    return { generations: whole ? [whole] : [] }
  }
}

/** What a piece of an answer is in LangChain. Pieces of a call are put together by its place among the calls. */
function fieldsOf(part, indexes) {
  const call = (fields) => {
    const index = indexes.get(part.toolCallId)
    return { tool_call_chunks: [{ type: 'tool_call_chunk', index, ...fields }] }
  }
  switch (part.type) {
    case 'text-delta':
      return { content: part.delta }
    case 'reasoning-delta':
      return { additional_kwargs: { reasoning_content: part.delta } }
    case 'tool-call-start':
      indexes.set(part.toolCallId, indexes.size)
      return call({ id: part.toolCallId, name: part.toolName, args: '' })
    case 'tool-call-delta':
      return call({ args: part.delta })
    default:
      return undefined
  }
}

function toolOf(tool) {
  const { name, description = '', parameters } = convertToOpenAITool(tool).function
  return { name, description, parameters }
}

function messageOf(message) {
  const { id = 'said', type, text } = message
  if (ToolMessage.isInstance(message))
    return [{ id, role: 'tool', toolCallId: message.tool_call_id, content: text }]
  if (!AIMessage.isInstance(message)) return type === 'human' ? [{ id, role: 'user', content: text }] : []
  const toolCalls = (message.tool_calls ?? []).map((call) => {
    const named = { name: call.name, arguments: JSON.stringify(call.args) }
    return { id: call.id, type: 'function', function: named }
  })
  return [{ id, role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) }]
}
