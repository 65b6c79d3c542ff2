import { linkAbort } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { withStop } from '../../core/closing.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../model.js'
import { untilAborted } from '../../core/until-aborted.js'
import { brokenOff, createAnswer } from './answer.js'
import type { AiSdkLanguageModel, SpecVersion } from './language-model.js'
import { openStream } from './open-stream.js'
import { toModelError } from './provider-error.js'
import type { ProviderPart } from './provider-part.js'

export interface FromAiSdkOptions {
  /**
   * Gets a sentence about each thing that did not reach the model: media it cannot take, settings its provider
   * ignores. Must not throw. By default nobody is told.
   */
  readonly onWarning?: (message: string) => void
  readonly clock?: Clock
}

/**
 * Makes a `Model` of any language model of the AI SDK: of provider specification v2, v3 or v4, that is of AI SDK 5 and
 * later. What a provider's own tools do stays between the provider and the model.
 *
 * @example
 * const model = fromAiSdk(openai('gpt-5-mini'))
 */
export function fromAiSdk(
  model: AiSdkLanguageModel,
  { onWarning = () => undefined, clock = systemClock }: FromAiSdkOptions = {},
): Model {
  const source = {
    model,
    version: specVersion(model),
    // Without the name of the API: `openai.responses` and `openai.chat` are one provider.
    provider: model.provider.replace(/\.(chat|responses|messages|completion|generative-ai)$/, ''),
    onWarning,
    clock,
  }
  return {
    provider: source.provider,
    modelId: model.modelId,
    stream(request) {
      const stop = new AbortController()
      return withStop(readAnswer(request, source, stop), () => {
        stop.abort()
      })
    },
  }
}

interface Source extends Required<FromAiSdkOptions> {
  readonly model: AiSdkLanguageModel
  readonly version: SpecVersion
  readonly provider: string
}

async function* readAnswer(
  request: ModelRequest,
  source: Source,
  stop: AbortController,
): AsyncGenerator<ModelPart, void> {
  const { signal } = stop
  const toError = createToError(source, signal)
  const labels = { provider: source.provider, model: source.model.modelId }
  const answer = createAnswer({ labels, onWarning: source.onWarning, toError })
  const release = linkAbort(request.signal, stop)
  try {
    const opening = openStream(request, { ...source, signal })
    const reader = await untilAborted(opening, signal).catch((error: unknown) => {
      throw toError(error, false)
    })
    for (;;) {
      let parts: ModelPart[]
      try {
        const { done, value } = await reader.read()
        signal.throwIfAborted()
        if (done) throw brokenOff()
        // The version was checked: these are the parts it has.
        parts = answer.step(value as ProviderPart)
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

/** Makes the error to throw. After an abort it throws at once: the reason counts then, not what the provider says. */
function createToError({ provider, model, clock }: Source, signal: AbortSignal) {
  const name = `${provider} ${model.modelId}`
  return (error: unknown, isAnswering = true): Error => {
    signal.throwIfAborted()
    return toModelError(error, { name, isAnswering, clock })
  }
}

function specVersion({ specificationVersion: version, modelId }: AiSdkLanguageModel): SpecVersion {
  if (version === 'v2' || version === 'v3' || version === 'v4') return version
  throw new MillraceError(
    'INVALID_AGENT',
    `The model ${modelId} is of provider specification ${version}; v2, v3 and v4 are supported. Install a matching version of its package.`,
  )
}
