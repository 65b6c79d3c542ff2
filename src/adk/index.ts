export {
  AdkSession,
  type AdkRunOptions,
  type AdkSessionInfo,
  type AdkSessionOptions,
} from './retry/adk-session.js'
export { demoLlm } from './demo-llm.js'
export { fromAdk } from './from-adk.js'
export type { AdkOptions, AdkRoot, PerRun, PerThread, RunnerFactory } from './contract.js'
export { a2uiTool, type A2uiToolOptions } from './tools/a2ui-tool.js'
export { clientTools, type ClientToolsOptions } from './tools/client-tools.js'
export type { PredictStateMapping } from '../agents/index.js'
