import type { Tool } from '@ag-ui/core'
import { linkAbort, untilAborted } from '../../core/abort.js'
import { withStop } from '../../core/abortable.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Model, ModelPart, ModelRequest } from '../contract.js'
import { createPartConverter, incompleteAnswer } from './part-converter.js'
import { toPrompt } from './prompt.js'
import { toModelError } from './provider-error.js'
import { createOutputOptions, type OutputOptions } from './strict-output.js'
import type {
  AiSdkCallOptions,
  AiSdkLanguageModel,
  PartReader,
  PromptMessage,
  ProviderPart,
  SpecVersion,
} from './specification.js'

export interface FromAiSdkOptions {
  /**
   * Called with a sentence about each loss before the model: media it cannot take, settings its provider
   * ignores, an output schema that its provider cannot enforce. Must not throw.
   */
  readonly onWarning?: (message: string) => void
  readonly clock?: Clock
}

/**
 * Adapts a language model of the AI SDK 5 or later (provider specification v2, v3 or v4). Tools that the provider
 * executes itself do not show in the answer.
 *
 * @example
 * const model = fromAiSdk(openai('gpt-5-mini'))
 */
export function fromAiSdk(
  model: AiSdkLanguageModel,
  { onWarning = () => undefined, clock = systemClock }: FromAiSdkOptions = {},
): Model {
  const adapted: AdaptedModel = {
    model,
    version: checkVersion(model),
    // Without the name of the API: `openai.responses` and `openai.chat` are one provider.
    provider: model.provider.replace(/\.(chat|responses|messages|completion|generative-ai)$/, ''),
    outputOptions: createOutputOptions(model, onWarning),
    onWarning,
    clock,
  }
  return {
    provider: adapted.provider,
    modelId: model.modelId,
    stream(request) {
      const stop = new AbortController()
      return withStop(streamAnswer(request, adapted, stop), () => {
        stop.abort()
      })
    },
  }
}

interface AdaptedModel extends Required<FromAiSdkOptions> {
  readonly model: AiSdkLanguageModel
  readonly version: SpecVersion
  readonly provider: string
  readonly outputOptions: OutputOptions
}

async function* streamAnswer(
  request: ModelRequest,
  adapted: AdaptedModel,
  stop: AbortController,
): AsyncGenerator<ModelPart, void> {
  const { signal } = stop
  const toError = createToError(adapted, signal)
  const labels = { provider: adapted.provider, model: adapted.model.modelId }
  const convert = createPartConverter({ labels, onWarning: adapted.onWarning, toError })
  const release = linkAbort(request.signal, stop)
  try {
    const response = openStream(request, { ...adapted, signal })
    const reader = await untilAborted(response, signal).catch((error: unknown) => {
      throw toError(error, false)
    })
    for (;;) {
      let parts: ModelPart[]
      try {
        const { done, value } = await reader.read()
        signal.throwIfAborted()
        if (done) throw incompleteAnswer()
        // The version was checked: its parts have this type.
        parts = convert(value as ProviderPart)
      } catch (error) {
        throw toError(error)
      }
      for (const part of parts) {
        yield part
        if (part.type === 'finish') return
      }
    }
  } finally {
    release()
    stop.abort()
  }
}

/** After an abort, the returned function throws the abort reason instead: the provider's error no longer counts. */
function createToError({ provider, model, clock }: AdaptedModel, signal: AbortSignal) {
  const name = `${provider} ${model.modelId}`
  return (error: unknown, hasResponse = true): Error => {
    signal.throwIfAborted()
    return toModelError(error, { name, hasResponse, clock })
  }
}

function checkVersion({ specificationVersion: version, modelId }: AiSdkLanguageModel): SpecVersion {
  if (version === 'v2' || version === 'v3' || version === 'v4') return version
  throw new MillraceError(
    'INVALID_AGENT',
    `The model ${modelId} is of provider specification ${version}; v2, v3 and v4 are supported. Install a matching version of its package.`,
  )
}

interface OpenStreamOptions extends Pick<AdaptedModel, 'model' | 'version' | 'outputOptions' | 'onWarning'> {
  readonly signal: AbortSignal
}

/**
 * Sends a request and returns the reader of the answer. An abort, early or late, cancels the reader: a pending read ends
 * at once, even if the provider ignores the signal.
 */
async function openStream(
  request: ModelRequest,
  { model, version, outputOptions, signal, onWarning }: OpenStreamOptions,
): Promise<PartReader> {
  const { instructions, context } = request
  const onSkipped = (message: string): void => {
    onWarning(message)
    request.onSkipped?.(message)
  }
  const [provider = ''] = model.provider.split('.')
  // Providers that call their format `chat` speak chat completions; the exception is Gemini on Vertex.
  const isChat = model.provider.endsWith('.chat') && provider !== 'google'
  const rules = { version, provider, isChat, urls: await (model.supportedUrls ?? {}) }
  let prompt = toPrompt(request.messages, { instructions, context, rules, onWarning: onSkipped })
  for (;;) {
    signal.throwIfAborted()
    try {
      const { stream } = await model.doStream({
        ...toCallOptions(request, prompt, signal),
        ...outputOptions(request),
      })
      return cancelOnAbort(stream.getReader(), signal)
    } catch (error) {
      // AG-UI requires leaving out what a model cannot take. Providers report it only by this error, before they send.
      const reduced = withoutRefusedFiles(prompt, error)
      if (reduced === undefined) throw error
      const kept = new Set(reduced.flatMap(filesOfUser).map(({ mediaType }) => mediaType))
      const types = prompt.flatMap(filesOfUser).map(({ mediaType }) => mediaType)
      const refused = [...new Set(types.filter((type) => !kept.has(type)))].join(', ')
      onSkipped(`Files of the type ${refused} were left out: the provider does not take them.`)
      prompt = reduced
    }
  }
}

/** All options but those of an output. Leaves out every one that the request does not set. */
export function toCallOptions(
  { tools = [], toolChoice, settings }: ModelRequest,
  prompt: readonly PromptMessage[],
  abortSignal: AbortSignal,
): AiSdkCallOptions & { readonly prompt: readonly PromptMessage[] } {
  return {
    prompt,
    abortSignal,
    // A tool choice without tools is an error with some providers.
    ...(tools.length > 0 && { tools: tools.map(toFunctionTool) }),
    ...(tools.length > 0 && toolChoice !== undefined && { toolChoice: toToolChoice(toolChoice) }),
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
