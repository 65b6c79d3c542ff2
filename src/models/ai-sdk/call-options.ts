import type { Tool } from '@ag-ui/core'
import type { ModelRequest } from '../model.js'
import type { AiSdkCallOptions } from './language-model.js'
import type { PromptMessage } from './prompt-message.js'

/** All that a call takes besides the prompt. What the request leaves out stays out. */
export function toCallOptions(
  { tools = [], toolChoice, output, settings }: ModelRequest,
  prompt: readonly PromptMessage[],
  abortSignal: AbortSignal,
): AiSdkCallOptions & { readonly prompt: readonly PromptMessage[] } {
  return {
    prompt,
    abortSignal,
    // A choice among no tools is an error with some providers.
    ...(tools.length > 0 && { tools: tools.map(toFunctionTool) }),
    ...(tools.length > 0 && toolChoice !== undefined && { toolChoice: toToolChoice(toolChoice) }),
    ...(output !== undefined && { responseFormat: { type: 'json', ...output } }),
    ...settings,
  }
}

function toFunctionTool({ name, description, parameters }: Tool): object {
  const inputSchema: unknown = parameters ?? { type: 'object', properties: {} }
  return { type: 'function', name, description, inputSchema }
}

function toToolChoice(choice: NonNullable<ModelRequest['toolChoice']>): object {
  return typeof choice === 'string' ? { type: choice } : { type: 'tool', ...choice }
}
