export { fromAiSdk, type FromAiSdkOptions } from './ai-sdk/from-ai-sdk.js'
export type { AiSdkLanguageModel } from './ai-sdk/language-model.js'
export type { FinishReason, JsonSchema, Model, ModelPart, ModelRequest, ModelSettings } from './model.js'
