export { fromAiSdk, type FromAiSdkOptions } from './ai-sdk/from-ai-sdk.js'
export type { AiSdkLanguageModel } from './ai-sdk/language-model.js'
export { demoModel, type DemoModelOptions } from './demo/demo-model.js'
export { modelFromEnv, type ModelFromEnvOptions } from './env/model-from-env.js'
export { isRetryableStatus } from './model-error.js'
export type { FinishReason, JsonSchema, Model, ModelPart, ModelRequest, ModelSettings } from './model.js'
export {
  scriptedModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptPiece,
} from './scripted-model.js'
