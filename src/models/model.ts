import type { Message, TokenUsage, Tool } from '@ag-ui/core'

/** A JSON Schema, as far as it travels: to a model, to a client, into a checkpoint. */
export type JsonSchema = Readonly<Record<string, unknown>>

/** What an agent asks of a model: one answer to one conversation. */
export interface ModelRequest {
  readonly instructions?: string
  /** The conversation in AG-UI messages, reasoning and encrypted values included. The adapter converts them. */
  readonly messages: readonly Message[]
  readonly tools?: readonly Tool[]
  readonly toolChoice?: 'auto' | 'none' | 'required' | { readonly toolName: string }
  /** Asks for an answer that is JSON of this shape. */
  readonly output?: { readonly name?: string; readonly schema: JsonSchema }
  readonly settings?: ModelSettings
  readonly signal: AbortSignal
}

export interface ModelSettings {
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  /** Passed on to the provider as it is, by provider name. */
  readonly providerOptions?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

export type FinishReason = 'stop' | 'length' | 'tool-calls' | 'content-filter' | 'error' | 'other'

/**
 * One piece of an answer. Pieces of one kind follow each other until their end; a tool call may stream while another
 * does. `encryptedValue` is opaque: it is stored with the message and handed back in later requests.
 */
export type ModelPart =
  | { readonly type: 'text-delta'; readonly delta: string }
  | { readonly type: 'text-end'; readonly encryptedValue?: string }
  | { readonly type: 'reasoning-delta'; readonly delta: string }
  /** Also stands alone, for reasoning that is only told encrypted. */
  | { readonly type: 'reasoning-end'; readonly encryptedValue?: string }
  | { readonly type: 'tool-call-start'; readonly toolCallId: string; readonly toolName: string }
  | { readonly type: 'tool-call-delta'; readonly toolCallId: string; readonly delta: string }
  | { readonly type: 'tool-call-end'; readonly toolCallId: string; readonly encryptedValue?: string }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage?: TokenUsage }

/**
 * The port to a language model. Contract of `stream`: what is started is ended, `finish` comes once and last, nothing
 * is requested before the first `next()`, and when `signal` aborts the provider's request is aborted too and the
 * stream throws. A failure is a `MillraceError` MODEL_ERROR with `details.status` (of HTTP, when there was one) and
 * `details.retryable`.
 */
export interface Model {
  readonly provider: string
  readonly modelId: string
  stream(request: ModelRequest): AsyncIterable<ModelPart>
}
