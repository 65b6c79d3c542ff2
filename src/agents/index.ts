export type {
  Agent,
  AgentMemory,
  Control,
  Identity,
  Interrupted,
  NativeEvents,
  RememberedThread,
  RunContext,
  SafePoint,
  ThreadOwner,
  TransferTarget,
} from './agent.js'
export { agentTool, type AgentToolOptions } from './agent-tool.js'
export { InterruptSignal } from './asker.js'
export { breakTool } from './break-tool.js'
export { defineAgent, userMessage, type AgentOptions } from './chat/chat-agent.js'
export {
  checkpointOf,
  type Checkpoint,
  type Frames,
  type SuspendedThread,
  type OpenInterrupt,
} from './checkpoint.js'
export { rootAddress } from './context.js'
export { createEventSink, type EventSink } from './event-sink.js'
export { defineTool } from './define-tool.js'
export { exitTool } from './exit-tool.js'
export { isCutOff, isRejected } from './history/message-marks.js'
export { rewriteHistory, type HistoryEntry, type HistoryRewriter } from './history/rewrite.js'
export type { Answer, InterruptRequest } from './interrupt.js'
export type { AgentSetup, Middleware, ToolCallInfo } from './middleware.js'
export type { RunSink } from './active-run.js'
export {
  run,
  startRun,
  type CancelOptions,
  type CheckpointStore,
  type EventEdit,
  type Outcome,
  type Run,
  type RunOptions,
  type StartedRun,
  type StartOptions,
} from './run.js'
export type { RunFields, RunRequest } from './run-input.js'
export type { Schema } from './schema.js'
export { contentResult } from './tool-result.js'
export type { ContentResult, Tool, ToolContext, ToolSource } from './tool.js'
export type { McpServer } from './mcp/mcp-server.js'
export { mcpTools, type McpToolSource, type McpToolsOptions } from './mcp/mcp-tools.js'
export { diskFiles } from './middlewares/files/disk-files.js'
export { fileWorkspace, type FileWorkspaceOptions } from './middlewares/files/file-workspace.js'
export type { FileEntry, Files, FilesContext } from './middlewares/files/files.js'
export { stateFiles, type StateFilesOptions } from './middlewares/files/state-files.js'
export { skills, type SkillsOptions } from './middlewares/skills/skills.js'
export type { Skill } from './middlewares/skills/skill.js'
export { todoList, type TodoListOptions } from './middlewares/todo-list.js'
export type { Todo, TodoStatus } from './middlewares/todos.js'
export { toolSearch, type ToolSearchOptions } from './middlewares/tool-search/tool-search.js'
export { offloadResults, type OffloadResultsOptions } from './middlewares/offload-results.js'
export { repairToolCalls, type RepairToolCallsOptions } from './middlewares/repair-tool-calls.js'
export type { ResultStore } from './middlewares/result-store.js'
export { summarizeHistory, type SummarizeHistoryOptions } from './middlewares/summarize.js'
export { interruptedBy, isAnswered, withAnswers, type InterruptFrame } from './questions.js'
export type { ModelAttempt, RetryOptions, Verdict } from './retry-policy.js'
export { withRetry, type WithRetryOptions } from './with-retry.js'
export { transferAfter } from './transfer/transfer-after.js'
export {
  createTurnLoop,
  type PushMode,
  type PushOptions,
  type StopOptions,
  type TurnLoop,
  type TurnLoopOptions,
  type TurnLoopStatus,
} from './turn-loop/turn-loop.js'
export type { Pushed } from './turn-loop/pushed.js'
export type { SavedTurnLoop } from './turn-loop/saved.js'
export { unknownInterrupt } from './unknown-question.js'
export { loop, type LoopOptions } from './workflows/loop.js'
export { parallel, type ParallelOptions } from './workflows/parallel.js'
export { sequential } from './workflows/sequential.js'
export type { WorkflowOptions } from './workflows/workflow.js'
