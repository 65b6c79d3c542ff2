import type { LlmRequest } from '@google/adk'
import type { Content } from '../adk-types.js'

type SystemInstruction = NonNullable<LlmRequest['config']>['systemInstruction']

/** Tells the model something besides the instruction of its agent. */
export function instruct(request: LlmRequest, instructions: readonly string[]): void {
  if (instructions.length === 0) return
  const text = instructions.join('\n\n')
  request.config = { ...request.config, systemInstruction: joined(request.config?.systemInstruction, text) }
}

/** ADK keeps a text here, callbacks may leave any form that Gemini takes. */
function joined(before: SystemInstruction, text: string): NonNullable<SystemInstruction> {
  if (before === undefined || before === '') return text
  if (typeof before === 'string') return `${before}\n\n${text}`
  if (Array.isArray(before)) return [...before, { text }]
  if (isContent(before)) return { ...before, parts: [...(before.parts ?? []), { text }] }
  return [before, { text }]
}

function isContent(value: object): value is Content {
  return 'parts' in value || 'role' in value
}
