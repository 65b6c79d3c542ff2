import { isRecord } from '../../core/is-record.js'
import { modelError } from '../model-error.js'
import type { FinishReason, ModelPart } from '../model.js'
import { createBlocks } from './blocks.js'
import type { FinishPart, ProviderPart } from './provider-part.js'
import { createToolInputs } from './tool-inputs.js'
import { toTokenUsage, type UsageLabels } from './usage.js'

export interface AnswerOptions {
  readonly labels: UsageLabels
  /** Gets what the provider warns about. Must not throw. */
  readonly onWarning: (message: string) => void
  /** Makes of the error that a part carries the one to throw. */
  readonly toError: (error: unknown) => Error
}

/** One answer while its parts are converted. */
export interface Answer {
  /** Converts the next part. Throws for an `error` part, and when the provider broke off. */
  step(part: ProviderPart): ModelPart[]
}

/** Converts the stream parts of a provider, one step for each. */
export function createAnswer({ labels, onWarning, toError }: AnswerOptions): Answer {
  const blocks = createBlocks()
  const toolInputs = createToolInputs()

  // A tool call ends the text before it. Chat completions themselves end it only with the answer.
  function afterBlocks(parts: ModelPart[]): ModelPart[] {
    return parts.length === 0 ? parts : [...blocks.close(), ...parts]
  }

  function finish(part: FinishPart): ModelPart[] {
    const reason = toFinishReason(part.finishReason)
    const usage = toTokenUsage(part, labels)
    return [...blocks.close(), ...toolInputs.close(), { type: 'finish', reason, ...(usage && { usage }) }]
  }

  return {
    step(part) {
      switch (part.type) {
        case 'text-start':
        case 'text-delta':
        case 'text-end':
        case 'reasoning-start':
        case 'reasoning-delta':
        case 'reasoning-end':
          return blocks.step(part)
        case 'tool-input-start':
        case 'tool-input-delta':
          return afterBlocks(toolInputs.input(part))
        case 'tool-call':
          return afterBlocks(toolInputs.call(part))
        case 'stream-start':
          for (const warning of part.warnings ?? []) onWarning(JSON.stringify(warning))
          return []
        case 'finish':
          return finish(part)
        case 'error':
          throw toError(part.error)
        // Sources, files, raw chunks, pings, and what becomes of the provider's own tools.
        default:
          return []
      }
    },
  }
}

const reasons = ['stop', 'length', 'tool-calls', 'content-filter', 'error'] as const satisfies FinishReason[]

function toFinishReason(value: unknown): FinishReason {
  const reason = isRecord(value) ? value.unified : value
  if (reason === 'interrupted') throw brokenOff()
  return reasons.find((known) => known === reason) ?? 'other'
}

/** The error for an answer that stops without saying that it is finished. */
export function brokenOff(): Error {
  return modelError('The model broke off in the middle of its answer.', { retryable: true })
}
