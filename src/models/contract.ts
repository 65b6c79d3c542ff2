import type { Message, TokenUsage, Tool } from '@ag-ui/core'

/**
 * A language model, as agents see it.
 *
 * `stream` requests nothing before the first `next()`, ends all that it starts, and yields `finish` once, as its last
 * part. When `signal` aborts, it aborts the provider's request and throws. A failure is a `MillraceError` MODEL_ERROR
 * with `details.status` (the HTTP status, if there was one) and `details.retryable`.
 */
export interface Model {
  readonly provider: string
  readonly modelId: string
  stream(request: ModelRequest): AsyncIterable<ModelPart>
}

/** A conversation that the model continues with one answer. */
export interface ModelRequest {
  readonly instructions?: string
  /** AG-UI messages, reasoning and encrypted values included. The adapter converts them. */
  readonly messages: readonly Message[]
  /**
   * What holds in this run and may not in the next. The adapter puts it behind the last message of the user: instructions
   * and earlier messages stay the same, so that providers can cache them.
   */
  readonly context?: string
  readonly tools?: readonly Tool[]
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly toolName: string }
  /** Requests an answer that is JSON of this schema. */
  readonly output?: { readonly name?: string; readonly schema: JsonSchema }
  readonly settings?: ModelSettings
  /** Called with a sentence about each part of the messages that the model does not get. Must not throw. */
  readonly onSkipped?: (message: string) => void
  readonly signal: AbortSignal
}

export interface ModelSettings {
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  /** Passed through to the provider, by provider name. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/**
 * A part of an answer. Text and reasoning do not overlap; tool calls may stream side by side. `encryptedValue` is
 * opaque: it is stored with the message and sent back in later requests, with its `encryptedValueType` if it has one.
 */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly delta: string }
  | ({ readonly type: 'text-end' } & EncryptedPart)
  | { readonly type: 'reasoning-delta'; readonly delta: string }
  /** Comes without deltas when the provider sends only encrypted reasoning. */
  | ({ readonly type: 'reasoning-end' } & EncryptedPart)
  | { readonly type: 'tool-call-start'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-call-delta'; readonly toolCallId: string; readonly delta: string }
  | ({ readonly type: 'tool-call-end'; readonly toolCallId: string } & EncryptedPart)
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage?: TokenUsage }

interface EncryptedPart {
  readonly encryptedValue?: string
  /** Your name for the kind of value, if you have several: `anthropic.redacted_thinking`. AG-UI 1.1. */
  readonly encryptedValueType?: string
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/** A JSON Schema as plain JSON: sent to models and clients, stored in checkpoints. */
export type JsonSchema = Readonly<Record<string, unknown>>
