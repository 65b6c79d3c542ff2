/** Versions of the provider specification of the AI SDK that the adapter speaks. */
export type SpecVersion = 'v2' | 'v3' | 'v4'

/** Options or metadata by provider name. The AI SDK passes them through without a look. */
export type ProviderOptions = Readonly<Record<string, Readonly<Record<string, unknown>>>>

/** Addresses that a model takes without a download, by media type. */
export type UrlPatterns = Readonly<Record<string, readonly RegExp[]>>

/**
 * Any language model of the AI SDK, told by its shape: what `openai('gpt-5-mini')`, `anthropic(...)` and all other
 * providers return. `specificationVersion` is `v2`, `v3` or `v4`.
 */
export interface AiSdkLanguageModel {
  readonly specificationVersion: string
  readonly provider: string
  readonly modelId: string
  readonly supportedUrls?: UrlPatterns | PromiseLike<UrlPatterns>
  doStream(options: AiSdkCallOptions): PromiseLike<AiSdkStreamResult>
}

/** What a call gets, only as narrow as all versions of the specification allow. */
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

/** The reader of a `ReadableStream`, as far as it is used. */
export interface PartReader {
  read(): Promise<{ readonly done: boolean; readonly value?: unknown }>
  cancel(reason?: unknown): Promise<void>
}
