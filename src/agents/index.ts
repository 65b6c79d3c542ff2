export type { NativeHooks } from '../bridge/native-hooks.js'
export type {
  Agent,
  AgentLimits,
  AgentMemory,
  AgentOutline,
  Control,
  Claims,
  Identity,
  Interrupted,
  ListedThread,
  ModelObserver,
  ObservedEnd,
  ObservedRequest,
  RememberedThread,
  RunContext,
  SafePoint,
  ThreadOwner,
  TransferTarget,
  Frames,
  OpenInterrupt,
  OutlinedAgent,
  OutlinedTool,
  OutlineEdge,
  OutlineKind,
  OutlineOptions,
  HistoryEntry,
  HistoryRewriter,
  Answer,
  InterruptRequest,
  ContentResult,
  Tool,
  ToolContext,
  ToolSource,
} from './contract.js'
export { agentTool, type AgentToolOptions } from './tools/agent-tool.js'
export { InterruptSignal } from './interrupts/interrupt-scope.js'
export { breakTool, exitTool } from './tools/control-tools.js'
export { defineAgent, userMessage, type AgentOptions } from './chat/chat-agent.js'
export { checkpointOf, type Checkpoint, type SuspendedThread } from './interrupts/checkpoint.js'
export { recoverInterrupts, type RecoveredInterrupts } from './interrupts/recover-interrupts.js'
export { rootAddress } from './run/address.js'
export {
  checkAgent,
  checkAgents,
  checkOptionNames,
  describeKind,
  invalidAgent,
  memberOf,
} from './check-agent.js'
export { checkNumber } from './check-number.js'
export { compileSchema } from './json-schema/compile-schema.js'
export { privateKeysMember } from './private-keys.js'
export { wrapAgent } from './wrap-agent.js'
export { limitsMember } from './run/limits.js'
export { stateTooLarge, threadFull, type SizeLimits } from './run/size-limits.js'
export { withPredictedState } from './run/predict-state.js'
export type { PredictStateMapping } from '../bridge/predict-state.js'
export { defineTool } from './tools/define-tool.js'
export { withAuthor, withoutOrigin } from './history/message-origin.js'
export { rewriteHistory } from './history/rewrite-history.js'
export type { AgentSetup, Middleware, ToolCallInfo } from './chat/middleware.js'
export {
  run,
  startCheckedRun,
  startRun,
  type CancelOptions,
  type CheckpointStore,
  type EventEdit,
  type Outcome,
  type Run,
  type RunOptions,
  type RunSink,
  type StartedRun,
  type StartOptions,
} from './run/run.js'
export type { RunFields, RunRequest } from './run/run.js'
export type { Schema } from './tools/schema.js'
export { outlineTree, type OutlineNode, type OutlineReference } from './outline-tree.js'
export { contentResult } from './tools/tool-result.js'
export type { McpServer } from './mcp/mcp-server.js'
export { mcpTools, type McpToolSource, type McpToolsOptions } from './mcp/mcp-tools.js'
export { diskFiles } from './middlewares/files/disk-files.js'
export { fileWorkspace, type FileWorkspaceOptions } from './middlewares/files/file-workspace.js'
export type { FileEntry, Files, FilesContext } from './middlewares/files/files.js'
export { stateFiles, type StateFilesOptions } from './middlewares/files/state-files.js'
export { skills, type SkillsOptions } from './middlewares/skills/skills.js'
export type { Skill } from './middlewares/skills/load-skills.js'
export { todoList, type TodoListOptions } from './middlewares/todo-list.js'
export type { Todo, TodoStatus } from './middlewares/todo-list.js'
export { toolSearch, type ToolSearchOptions } from './middlewares/tool-search/tool-search.js'
export { offloadResults, type OffloadResultsOptions } from './middlewares/offload-results.js'
export { repairToolCalls, type RepairToolCallsOptions } from './middlewares/repair-tool-calls.js'
export type { ResultStore } from './middlewares/offload-results.js'
export { summarizeHistory, type SummarizeHistoryOptions } from './middlewares/summarize/summarize-history.js'
export { interruptedBy, isAnswered, withAnswers, type InterruptFrame } from './interrupts/interrupt-frame.js'
export type { ModelAttempt, RetryOptions, Verdict } from './retry/retry-policy.js'
export { withRetry, type WithRetryOptions } from './retry/with-retry.js'
export { team, transferAfter, type TeamOptions, type TransferChoice } from './transfer/team.js'
export { withHistory } from './history/with-history.js'
export type {
  PushedMessages,
  PushMode,
  PushOptions,
  StopOptions,
  TurnLoop,
  TurnLoopOptions,
  TurnLoopStatus,
} from './turn-loop/contract.js'
export type { SavedTurnLoop } from './turn-loop/saved-loop.js'
export { createTurnLoop } from './turn-loop/turn-loop.js'
export { sortAnswers, type KnownInterrupts, type SortedAnswers } from './interrupts/resume.js'
export { loop, type LoopOptions } from './workflows/loop.js'
export { parallel, type ParallelOptions } from './workflows/parallel.js'
export { sequential } from './workflows/sequential.js'
export type { WorkflowOptions } from './workflows/workflow.js'
