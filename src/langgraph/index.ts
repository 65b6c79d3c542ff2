export type { GraphEvent, GraphInterruption, LangGraphOptions, PerRun, ServableGraph } from './contract.js'
export {
  createEmitter,
  emit,
  emitMessage,
  emitState,
  emitToolCall,
  type Emitter,
  type EmitMessageOptions,
  type EmittedToolCall,
} from './emit.js'
export { fromLangGraph } from './from-langgraph.js'
export { toChatModel, type ChatModel } from './models/chat-model.js'
export { a2uiTool, type A2uiToolOptions } from './tools/a2ui-tool.js'
export type { HasConfigurable } from './tools/client-extras.js'
export { clientContext } from './tools/client-context.js'
export { clientTools, getClientTools, type ClientToolsOptions } from './tools/client-tools.js'
