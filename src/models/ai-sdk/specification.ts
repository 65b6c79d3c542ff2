/**
 * The provider specification of the AI SDK, structurally typed: the common denominator of v2, v3 and v4, as far as the
 * adapter uses it.
 */

export type SpecVersion = 'v2' | 'v3' | 'v4'

/**
 * Any language model of the AI SDK: what `openai('gpt-5-mini')`, `anthropic(...)` and all other providers return.
 * `specificationVersion` is `v2`, `v3` or `v4`.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls?: UrlPatterns | PromiseLike<UrlPatterns>
  doStream(options: AiSdkCallOptions): PromiseLike<AiSdkStreamResult>
}

/** URLs that a model fetches itself, by media type. */
export type UrlPatterns = Readonly<Record<string, readonly RegExp[]>>

/** Options or metadata by provider name. The AI SDK passes them through. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Only as narrow as all versions of the specification allow. */
export interface AiSdkCallOptions {
  readonly prompt: readonly object[]
  readonly tools?: readonly object[]
  readonly toolChoice?: object
  readonly responseFormat?: object
  readonly temperature?: number
  readonly topP?: number
  readonly maxOutputTokens?: number
  readonly stopSequences?: readonly string[]
  readonly seed?: number
  readonly providerOptions?: ProviderOptions
  readonly abortSignal?: AbortSignal
}

interface AiSdkStreamResult {
  readonly stream: { getReader(): PartReader }
}

/** The used subset of `ReadableStreamDefaultReader`. */
export interface PartReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
  cancel(reason?: unknown): Promise<void>
}

interface WithOptions {
  readonly providerOptions?: ProviderOptions
}

export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: (TextPromptPart | FilePromptPart)[] }
  | { readonly role: 'assistant'; readonly content: AssistantPromptPart[] }
  | { readonly role: 'tool'; readonly content: ToolResultPromptPart[] }

export interface TextPromptPart extends WithOptions {
  readonly type: 'text'
  readonly text: string
}

export interface FilePromptPart {
  readonly type: 'file'
  readonly mediaType: string
  /** Base64 text, a URL or a file id before v4; a tagged object since. */
  readonly data: unknown
}

export type AssistantPromptPart =
  | TextPromptPart
  | (WithOptions & { readonly type: 'reasoning'; readonly text: string })
  | (WithOptions & {
      readonly type: 'tool-call'
      readonly toolCallId: string
      readonly toolName: string
      readonly input: Readonly<Record<string, unknown>>
    })

interface ToolResultPromptPart extends WithOptions {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly output: ToolResultOutput
}

export type ToolResultOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'content'; readonly value: readonly object[] }

/** The stream parts that the adapter reads. It ignores all others. */
export type ProviderPart =
  | BlockPart
  | ToolInputPart
  | ToolCallPart
  | FinishPart
  | { readonly type: 'stream-start'; readonly warnings?: readonly unknown[] }
  | { readonly type: 'error'; readonly error: unknown }

interface WithMetadata {
  readonly providerMetadata?: ProviderOptions
}

export type BlockPart = WithMetadata & { readonly id: string } & (
    | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end' }
    | { readonly type: 'text-delta' | 'reasoning-delta'; readonly delta: string }
  )

/** Streamed arguments of a tool call. */
export type ToolInputPart =
  | {
      readonly type: 'tool-input-start'
      readonly id: string
      readonly toolName: string
      readonly providerExecuted?: boolean
      /** `text` for arguments that stream as raw text and become JSON only in the `tool-call` part. */
      readonly inputEncoding?: 'json' | 'text'
    }
  | { readonly type: 'tool-input-delta'; readonly id: string; readonly delta: string }

/** A whole tool call. Follows its input parts, or stands alone when the provider does not stream arguments. */
export interface ToolCallPart extends WithMetadata {
  readonly type: 'tool-call'
  readonly toolCallId: string
  readonly toolName: string
  readonly input: string
  readonly providerExecuted?: boolean
}

export interface FinishPart extends WithMetadata {
  readonly type: 'finish'
  /** A string in v2, an object with `unified` since. */
  readonly finishReason: unknown
  /** Flat numbers in v2, nested ones since. */
  readonly usage: unknown
}
