import type { TokenUsage } from '@ag-ui/core'
import type { AIMessageChunk, UsageMetadata } from '@langchain/core/messages'
import type { FinishReason, ModelPart } from '../../models/index.js'
import { kwargsWith } from '../input/extras.js'
import { signaturesKey } from '../input/tool-calls.js'

type ChunkFields = Exclude<ConstructorParameters<typeof AIMessageChunk>[0], string>

/**
 * Makes of the parts of one answer what the chunks of LangChain have. Undefined for those that add nothing. Chunks are
 * put together again by place: of a call among the calls, of a thought among the thoughts.
 */
export function createChunkMaker(): (part: ModelPart) => ChunkFields | undefined {
  const calls = new Map<string, number>()
  let thought = 0
  let hasThought = false

  const call = (toolCallId: string, fields: { id?: string; name?: string; args: string }): ChunkFields => {
    const index = calls.get(toolCallId) ?? calls.size
    calls.set(toolCallId, index)
    return { content: '', tool_call_chunks: [{ type: 'tool_call_chunk', index, ...fields }] }
  }
  const think = (fields: { thinking: string; signature?: string }): ChunkFields => {
    hasThought = true
    return { content: [{ type: 'thinking', index: thought, ...fields }] }
  }
  const seal = (signature: string | undefined): ChunkFields | undefined => {
    const sealed = signature === undefined ? undefined : think({ thinking: '', signature })
    thought++
    return sealed
  }

  return (part) => {
    switch (part.type) {
      case 'text-delta':
        // Content with blocks would become one block for each piece of text otherwise.
        return { content: hasThought ? [{ type: 'text', text: part.delta, index: 'text' }] : part.delta }
      case 'text-end':
        return sealedBeside(part.encryptedValue)
      case 'reasoning-delta':
        return think({ thinking: part.delta })
      case 'reasoning-end':
        return seal(part.encryptedValue)
      case 'tool-call-start':
        return call(part.toolCallId, { id: part.toolCallId, name: part.toolName, args: '' })
      case 'tool-call-delta':
        return call(part.toolCallId, { args: part.delta })
      case 'tool-call-end':
        return signed(part.toolCallId, part.encryptedValue)
      case 'finish':
        return finish(part.reason, part.usage)
    }
  }
}

function sealedBeside(encryptedValue: string | undefined): ChunkFields | undefined {
  return encryptedValue === undefined
    ? undefined
    : { content: '', additional_kwargs: kwargsWith({ encryptedValue }) }
}

function signed(toolCallId: string, encryptedValue: string | undefined): ChunkFields | undefined {
  return encryptedValue === undefined
    ? undefined
    : { content: '', additional_kwargs: { [signaturesKey]: { [toolCallId]: encryptedValue } } }
}

function finish(finish_reason: FinishReason, usage: TokenUsage | undefined): ChunkFields {
  const fields: ChunkFields = { content: '', response_metadata: { finish_reason } }
  return usage ? Object.assign(fields, { usage_metadata: usageOf(usage) }) : fields
}

function usageOf(usage: TokenUsage): UsageMetadata {
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
