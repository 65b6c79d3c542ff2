export { MillraceError } from '../core/errors.js'
export { createClient } from './create-client.js'
export type {
  AgentInfo,
  Answer,
  Client,
  ClientOptions,
  ClientTool,
  ClientTools,
  PatchResult,
  PendingCall,
  RunResult,
  Subagent,
  Thread,
  ThreadInfo,
  ThreadList,
  ThreadOptions,
  ThreadPage,
  Threads,
  ThreadSnapshot,
} from './contract.js'
