export { createServer, type CloseOptions, type Server } from './create-server.js'
export type { Hooks, Replaced, RunInfo, ThreadInfo } from './hooks/hooks.js'
export { defaultLimits, type Limits } from './contract.js'
export type { Logger } from './contract.js'
export type { Identity, RemovalReason, ServerOptions, StateRules, ThreadRules } from './contract.js'
export type {
  Lease,
  Leases,
  LeaseTerms,
  LogEntry,
  LogPosition,
  Page,
  RunLog,
  Store,
  ThreadPage,
  ThreadStore,
} from '../threads/store.js'
export type {
  LogBatch,
  MessageChange,
  Owner,
  PendingToolCall,
  RunRecord,
  RunStart,
  RunStatus,
  Thread,
  ThreadChange,
  ThreadKey,
  ThreadSummary,
} from '../threads/thread.js'
