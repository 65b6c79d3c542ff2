import type { AiSdkLanguageModel } from './ai-sdk/language-model.js'

/** Environment variables. */
export type Env = Readonly<Record<string, string | undefined>>

/** How a provider is found in the environment, and what is loaded for it. */
export interface EnvProvider {
  readonly name: string
  /** Any of these, when it is not empty, means that the provider can be used. */
  readonly variables: readonly string[]
  readonly defaultModel: string
  /** The npm package, an optional peer. */
  readonly packageName: string
  /** Makes a model with the exports of the package. */
  create(exports: never, modelId: string, env: Env): AiSdkLanguageModel
}
