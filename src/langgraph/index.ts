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
export type { GraphEvent, GraphInterruption } from './graph-event.js'
export { toChatModel, type ChatModel } from './models/chat-model.js'
export type { LangGraphOptions, PerRun } from './options.js'
export type { ServableGraph } from './setup.js'
export { clientTools, type ClientToolsOptions } from './tools/client-tools.js'
export { getClientTools } from './tools/get-client-tools.js'
export type { HasConfigurable } from './tools/run-extras.js'
