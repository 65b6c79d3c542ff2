import { linkAbort, untilAborted } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { withStop } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../contract.js'
import { openStream } from './open-stream.js'
import { createPartConverter, incompleteAnswer } from './part-converter.js'
import { toModelError } from './provider-error.js'
import type { AiSdkLanguageModel, ProviderPart, SpecVersion } from './specification.js'

export interface FromAiSdkOptions {
  /**
   * Gets a sentence about everything that did not reach the model: media it cannot take, settings its provider
   * ignores. Must not throw.
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
