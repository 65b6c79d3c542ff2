export {
  defaultLimits,
  type CloseOptions,
  type ConsoleOptions,
  type CopilotKitOptions,
  type CorsOptions,
  type Identity,
  type Limits,
  type Logger,
  type OptionalRoute,
  type RemovalReason,
  type Server,
  type ServerOptions,
  type StateRules,
  type StreamOptions,
  type ThreadName,
  type ThreadRules,
  type ThreadStates,
} from './contract.js'
export { createServer } from './create-server.js'
export type { AuditedAnswer, AuditedRequest, AuditEvent } from './observe/audit.js'
export type { Hooks, Replaced, RequestFields, RunInfo, ThreadInfo } from './hooks/hooks.js'
export type {
  Lease,
  Leases,
  LeaseTerms,
  LogEntry,
  LogPosition,
  Page,
  RunLog,
  Store,
  ThreadLabels,
  ThreadPage,
  ThreadStore,
} from '../threads/contract.js'
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
} from '../threads/contract.js'
