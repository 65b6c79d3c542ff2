export { fromAiSdk, type FromAiSdkOptions } from './ai-sdk/from-ai-sdk.js'
export type { AiSdkLanguageModel } from './ai-sdk/specification.js'
export type { FinishReason, JsonSchema, Model, ModelPart, ModelRequest, ModelSettings } from './contract.js'
export { demoModel, type DemoModelOptions } from './demo/demo-model.js'
export { isRetryableStatus } from './model-error.js'
export { modelFromEnv, type ModelFromEnvOptions } from './model-from-env.js'
export {
  scriptedModel,
  type Script,
  type ScriptedAnswer,
  type ScriptedModel,
  type ScriptedModelOptions,
  type ScriptPiece,
} from './scripted-model.js'
