import type { ModelPart } from '../model.js'
import { toEncryptedValue } from './encrypted-value.js'
import type { ToolCallPart, ToolInputPart } from './provider-part.js'

interface OpenCall {
  /** Arguments that come as raw text are no JSON yet: they wait for the whole call. */
  readonly isHeld: boolean
  hasArguments: boolean
}

/** The tool calls of one answer. */
export interface ToolInputs {
  /** A piece of the arguments. */
  input(part: ToolInputPart): ModelPart[]
  /** The whole call. It ends the call: only here does the provider tell its metadata. */
  call(part: ToolCallPart): ModelPart[]
  /** Ends the calls that the provider left open. */
  close(): ModelPart[]
}

/**
 * Tells every call once, whether its arguments were streamed or not. Calls that the provider executes itself are its
 * own business: neither they nor their results are told.
 */
export function createToolInputs(): ToolInputs {
  const open = new Map<string, OpenCall>()
  /** Ended calls and calls of the provider. */
  const done = new Set<string>()

  function end(
    toolCallId: string,
    call: OpenCall,
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
    input(part) {
      const { id: toolCallId } = part
      if (part.type === 'tool-input-delta') {
        const call = open.get(toolCallId)
        if (call === undefined || call.isHeld || part.delta === '') return []
        call.hasArguments = true
        return [{ type: 'tool-call-delta', toolCallId, delta: part.delta }]
      }
      if (open.has(toolCallId) || done.has(toolCallId)) return []
      if (part.providerExecuted === true) {
        done.add(toolCallId)
        return []
      }
      open.set(toolCallId, { isHeld: part.inputEncoding === 'text', hasArguments: false })
      return [{ type: 'tool-call-start', toolCallId, toolName: part.toolName }]
    },
    call(part) {
      const { toolCallId, toolName } = part
      const call = open.get(toolCallId)
      if (call !== undefined) return end(toolCallId, call, part)
      if (done.has(toolCallId) || part.providerExecuted === true) return []
      const start = { type: 'tool-call-start', toolCallId, toolName } as const
      return [start, ...end(toolCallId, { isHeld: false, hasArguments: false }, part)]
    },
    close: () => [...open].flatMap(([toolCallId, call]) => end(toolCallId, call, {})),
  }
}
