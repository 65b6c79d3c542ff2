import type { ProviderOptions } from './language-model.js'

interface WithOptions {
  readonly providerOptions?: ProviderOptions
}

export interface TextPromptPart extends WithOptions {
  readonly type: 'text'
  readonly text: string
}

export interface FilePromptPart {
  readonly type: 'file'
  readonly mediaType: string
  /** Base64 text, a URL or a file id before version 4; tagged since. */
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

export type ToolResultOutput =
  | { readonly type: 'text' | 'error-text'; readonly value: string }
  | { readonly type: 'content'; readonly value: readonly object[] }

interface ToolResultPromptPart extends WithOptions {
  readonly type: 'tool-result'
  readonly toolCallId: string
  readonly toolName: string
  readonly output: ToolResultOutput
}

/** A message of a prompt, as the specification has it. */
export type PromptMessage =
  | { readonly role: 'system'; readonly content: string }
  | { readonly role: 'user'; readonly content: readonly (TextPromptPart | FilePromptPart)[] }
  | { readonly role: 'assistant'; readonly content: AssistantPromptPart[] }
  | { readonly role: 'tool'; readonly content: ToolResultPromptPart[] }
