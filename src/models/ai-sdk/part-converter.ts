import { isRecord } from '../../core/json.js'
import type { FinishReason, ModelPart } from '../contract.js'
import { modelError } from '../model-error.js'
import { toEncryptedValue } from './encrypted-value.js'
import type {
  BlockPart,
  FinishPart,
  ProviderOptions,
  ProviderPart,
  ToolCallPart,
  ToolInputPart,
} from './specification.js'
import { fromAiSdkUsage, type UsageLabels } from './usage.js'

export interface PartConverterOptions {
  readonly labels: UsageLabels
  /** Called with the provider's warnings. Must not throw. */
  readonly onWarning: (message: string) => void
  /** Converts the error of an `error` part into the one to throw. */
  readonly toError: (error: unknown) => Error
}

/**
 * Creates the function that converts a provider's stream parts, one call per part, for one answer. It throws for an
 * `error` part, and when the provider says that its answer is incomplete.
 */
export function createPartConverter({ labels, onWarning, toError }: PartConverterOptions) {
  const blocks = createBlocks()
  const toolCalls = createToolCalls()

  // A tool call ends the text before it. Chat completions themselves end it only with the answer.
  function closeBlocksBefore(parts: ModelPart[]): ModelPart[] {
    return parts.length === 0 ? parts : [...blocks.close(), ...parts]
  }

  function finish(part: FinishPart): ModelPart[] {
    const reason = toFinishReason(part.finishReason)
    const usage = fromAiSdkUsage(part, labels)
    return [...blocks.close(), ...toolCalls.close(), { type: 'finish', reason, ...(usage && { usage }) }]
  }

  return (part: ProviderPart): ModelPart[] => {
    switch (part.type) {
      case 'text-start':
      case 'text-delta':
      case 'text-end':
      case 'reasoning-start':
      case 'reasoning-delta':
      case 'reasoning-end':
        return blocks.convert(part)
      case 'tool-input-start':
      case 'tool-input-delta':
        return closeBlocksBefore(toolCalls.addInput(part))
      case 'tool-call':
        return closeBlocksBefore(toolCalls.addCall(part))
      case 'stream-start':
        for (const warning of part.warnings ?? []) onWarning(JSON.stringify(warning))
        return []
      case 'finish':
        return finish(part)
      case 'error':
        throw toError(part.error)
      // Sources, files, raw chunks, pings, and results of tools that the provider executes.
      default:
        return []
    }
  }
}

const finishReasons = ['stop', 'length', 'tool-calls', 'content-filter', 'error'] as const

function toFinishReason(value: unknown): FinishReason {
  const reason = isRecord(value) ? value.unified : value
  if (reason === 'interrupted') throw incompleteAnswer()
  return finishReasons.find((known) => known === reason) ?? 'other'
}

/** The error for an answer that ends without a `finish` part. */
export function incompleteAnswer(): Error {
  return modelError('The model broke off in the middle of its answer.', { retryable: true })
}

type BlockKind = 'text' | 'reasoning'

interface OpenBlock {
  readonly kind: BlockKind
  readonly id: string
  hasText: boolean
  metadata: ProviderOptions | undefined
}

/**
 * Text and reasoning. At most one block is open: the next one ends it. The last metadata that the provider sends for a
 * block becomes its encrypted value. An empty block is left out, unless it is encrypted reasoning.
 */
function createBlocks() {
  let open: OpenBlock | undefined

  function close(): ModelPart[] {
    const block = open
    open = undefined
    if (block === undefined) return []
    const end = { type: `${block.kind}-end`, ...toEncryptedValue(block.metadata) } as const
    return block.hasText || (block.kind === 'reasoning' && 'encryptedValue' in end) ? [end] : []
  }

  function enter({ kind, id }: { kind: BlockKind; id: string }, parts: ModelPart[]): OpenBlock {
    if (open?.kind === kind && open.id === id) return open
    parts.push(...close())
    return (open = { kind, id, hasText: false, metadata: undefined })
  }

  function end(kind: BlockKind, { id, providerMetadata }: BlockPart): ModelPart[] {
    if (open?.kind === kind && open.id === id) {
      open.metadata = providerMetadata ?? open.metadata
      return close()
    }
    // Another block has ended this one already. Only the encrypted value of reasoning still matters.
    const encrypted = kind === 'reasoning' ? toEncryptedValue(providerMetadata) : {}
    return 'encryptedValue' in encrypted ? [...close(), { type: 'reasoning-end', ...encrypted }] : []
  }

  return {
    close,
    convert(part: BlockPart): ModelPart[] {
      const kind = part.type.startsWith('text') ? 'text' : 'reasoning'
      if (part.type === 'text-end' || part.type === 'reasoning-end') return end(kind, part)
      const parts: ModelPart[] = []
      const block = enter({ kind, id: part.id }, parts)
      block.metadata = part.providerMetadata ?? block.metadata
      if ('delta' in part && part.delta !== '') {
        block.hasText = true
        parts.push({ type: `${kind}-delta`, delta: part.delta })
      }
      return parts
    },
  }
}

interface OpenToolCall {
  /** Raw text is not JSON yet: the arguments come with the whole call. */
  readonly isRawText: boolean
  hasArguments: boolean
}

/**
 * Emits every tool call once, whether its arguments were streamed or not. Calls that the provider executes itself are
 * left out, and so are their results.
 */
function createToolCalls() {
  const open = new Map<string, OpenToolCall>()
  /** Ended calls, and calls that the provider executes. */
  const done = new Set<string>()

  function end(
    toolCallId: string,
    call: OpenToolCall,
    { input, providerMetadata }: Partial<ToolCallPart>,
  ): ModelPart[] {
    open.delete(toolCallId)
    done.add(toolCallId)
    const delta = input === undefined || input.trim() === '' ? '{}' : input
    return [
      ...(call.hasArguments ? [] : [{ type: 'tool-call-delta', toolCallId, delta } as const]),
      { type: 'tool-call-end', toolCallId, ...toEncryptedValue(providerMetadata) },
    ]
  }

  return {
    addInput(part: ToolInputPart): ModelPart[] {
      const { id: toolCallId } = part
      if (part.type === 'tool-input-delta') {
        const call = open.get(toolCallId)
        if (call === undefined || call.isRawText || part.delta === '') return []
        call.hasArguments = true
        return [{ type: 'tool-call-delta', toolCallId, delta: part.delta }]
      }
      if (open.has(toolCallId) || done.has(toolCallId)) return []
      if (part.providerExecuted === true) {
        done.add(toolCallId)
        return []
      }
      open.set(toolCallId, { isRawText: part.inputEncoding === 'text', hasArguments: false })
      return [{ type: 'tool-call-start', toolCallId, toolName: part.toolName }]
    },
    /** The whole call ends it: only this part carries the provider's metadata. */
    addCall(part: ToolCallPart): ModelPart[] {
      const { toolCallId, toolName } = part
      const call = open.get(toolCallId)
      if (call !== undefined) return end(toolCallId, call, part)
      if (done.has(toolCallId) || part.providerExecuted === true) return []
      const start = { type: 'tool-call-start', toolCallId, toolName } as const
      return [start, ...end(toolCallId, { isRawText: false, hasArguments: false }, part)]
    },
    /** Ends the calls that the provider left open. */
    close: () => [...open].flatMap(([toolCallId, call]) => end(toolCallId, call, {})),
  }
}
