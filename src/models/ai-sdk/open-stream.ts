import type { Tool } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { ModelRequest } from '../contract.js'
import { toPrompt } from './prompt.js'
import type {
  AiSdkCallOptions,
  AiSdkLanguageModel,
  PartReader,
  PromptMessage,
  SpecVersion,
} from './specification.js'

export interface OpenStreamOptions {
  readonly model: AiSdkLanguageModel
  readonly version: SpecVersion
  readonly signal: AbortSignal
  readonly onWarning: (message: string) => void
}

/**
 * Sends a request and returns the reader of the answer. An abort, early or late, cancels the reader: a pending read ends
 * at once, even if the provider ignores the signal.
 */
export async function openStream(
  request: ModelRequest,
  { model, version, signal, onWarning }: OpenStreamOptions,
): Promise<PartReader> {
  const [provider = ''] = model.provider.split('.')
  // Providers that call their format `chat` speak chat completions; the exception is Gemini on Vertex.
  const isChat = model.provider.endsWith('.chat') && provider !== 'google'
  const rules = { version, provider, isChat, urls: await (model.supportedUrls ?? {}) }
  let prompt = toPrompt(request.messages, { instructions: request.instructions, rules, onWarning })
  for (;;) {
    signal.throwIfAborted()
    try {
      const { stream } = await model.doStream(toCallOptions(request, prompt, signal))
      return cancelOnAbort(stream.getReader(), signal)
    } catch (error) {
      // AG-UI asks to leave out what a model cannot take. Providers report it only by this error, before they send.
      const reduced = withoutRefusedFiles(prompt, error)
      if (reduced === undefined) throw error
      onWarning(`Files were left out: ${String(error)}`)
      prompt = reduced
    }
  }
}

/** Leaves out every option that the request does not set. */
export function toCallOptions(
  { tools = [], toolChoice, output, settings }: ModelRequest,
  prompt: readonly PromptMessage[],
  abortSignal: AbortSignal,
): AiSdkCallOptions & { readonly prompt: readonly PromptMessage[] } {
  return {
    prompt,
    abortSignal,
    // A tool choice without tools is an error with some providers.
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

function cancelOnAbort(reader: PartReader, signal: AbortSignal): PartReader {
  const cancel = () => {
    // Rejects with an earlier failure of the stream, which the read has thrown already.
    reader.cancel(signal.reason).catch(() => undefined)
  }
  if (signal.aborted) cancel()
  else signal.addEventListener('abort', cancel)
  return reader
}

const refusals: readonly unknown[] = ['AI_UnsupportedFunctionalityError', 'AI_NoSuchProviderReferenceError']

/**
 * The prompt without the user's files that made a provider refuse it: those of a media type that the error names, or
 * else all. Undefined for another error, or if there are no files.
 */
function withoutRefusedFiles(
  prompt: readonly PromptMessage[],
  error: unknown,
): readonly PromptMessage[] | undefined {
  if (!isRecord(error) || !refusals.includes(error.name)) return undefined
  const types = new Set(prompt.flatMap(filesOfUser).map(({ mediaType }) => mediaType))
  if (types.size === 0) return undefined
  const named = [...types].filter((type) => String(error.message).includes(type))
  const refused = named.length > 0 ? new Set(named) : types
  return prompt.flatMap((message): PromptMessage[] => {
    if (message.role !== 'user') return [message]
    const content = message.content.filter((part) => part.type !== 'file' || !refused.has(part.mediaType))
    return content.length > 0 ? [{ ...message, content }] : []
  })
}

function filesOfUser(message: PromptMessage) {
  return message.role === 'user' ? message.content.filter((part) => part.type === 'file') : []
}
