import { linkAbort } from '../../core/abort.js'
import { systemClock, type Clock } from '../../core/clock.js'
import { withStop } from '../../core/closing.js'
import { MillraceError } from '../../core/errors.js'
import type { Model, ModelPart, ModelRequest } from '../model.js'
import { untilAborted } from '../until-aborted.js'
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
  const { provider, onWarning, clock } = source
  const { modelId: model } = source.model
  const { signal } = stop
  const fail = (error: unknown, isAnswering: boolean) => {
    signal.throwIfAborted()
    return toModelError(error, { name: `${provider} ${model}`, isAnswering, clock })
  }
  const toError = (error: unknown) => fail(error, true)
  const answer = createAnswer({ labels: { provider, model }, onWarning, toError })
  const release = linkAbort(request.signal, stop)
  try {
    const opening = openStream(request, { ...source, signal })
    const reader = await untilAborted(opening, signal).catch((error: unknown) => {
      throw fail(error, false)
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

function specVersion({ specificationVersion: version, modelId }: AiSdkLanguageModel): SpecVersion {
  if (version === 'v2' || version === 'v3' || version === 'v4') return version
  throw new MillraceError(
    'INVALID_AGENT',
    `The model ${modelId} is of provider specification ${version}; v2, v3 and v4 are supported. Install a matching version of its package.`,
  )
}
