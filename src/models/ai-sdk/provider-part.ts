import type { ProviderOptions } from './language-model.js'

interface WithMetadata {
  readonly providerMetadata?: ProviderOptions
}

/** A piece of a text or of reasoning. */
export type BlockPart = WithMetadata & { readonly id: string } & (
    | { readonly type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end' }
    | { readonly type: 'text-delta' | 'reasoning-delta'; readonly delta: string }
  )

/** A piece of the arguments of a tool call. */
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

/** The stream parts of all versions that matter here. Others exist and are passed over. */
export type ProviderPart =
  | BlockPart
  | ToolInputPart
  | ToolCallPart
  | FinishPart
  | { readonly type: 'stream-start'; readonly warnings?: readonly unknown[] }
  | { readonly type: 'error'; readonly error: unknown }
