export type {
  AgentEvent,
  AgUiEvent,
  CloseOptions,
  DecodedFrame,
  EncryptedValueType,
  EventFrame,
  EventOf,
  FailOptions,
  FieldNote,
  Fold,
  SettledMessages,
  FoldOptions,
  MalformedFrame,
  ParsedRunInput,
  Peer,
  ResumeRunStreamOptions,
  RunEnd,
  RunInput,
  RunStream,
  RunStreamOptions,
  WireFormat,
} from './contract.js'
export { eventProblem } from './check/check-value.js'
export { compactRun } from './fold/compact.js'
export { createFold } from './fold/fold.js'
export { stateEventBetween } from './fold/state-event.js'
export { parsePeer, parseRunInput, upgradeBinaryParts } from './parse-run-input.js'
export {
  cutOffMark,
  addMark,
  describeContent,
  displayMark,
  importedMark,
  isCutOff,
  isForDisplay,
  isImported,
  isRejected,
  isReported,
  isRewritten,
  isToolError,
  rejectedCallContent,
  rejectedMark,
  rejectMessage,
  reportedMark,
  lostEventName,
  threadEventName,
  retryEventName,
  rewriteEventName,
  rewriteMessages,
  rewrittenMark,
  toolErrorMark,
  toToolError,
} from './messages.js'
export { countingMessages } from './run-stream/rewrites.js'
export { createRunStream, resumeRunStream } from './run-stream/run-stream.js'
export { withRunStream, type WithRunStreamOptions } from './run-stream/run-stream.js'
export { sumUsage } from './run-stream/terminal-event.js'
export { uniqueMessages, type UniqueMessages } from './unique-messages.js'
export { isRunStateKey, isThreadStateKey } from './state-prefixes.js'
export { createDowngrade, type Downgrade, type DowngradeOptions } from './wire/downgrade.js'
export { isOfItem, LaneOrder, type LaneEvent, type LaneOrderOptions } from './wire/lane-order.js'
export { hasLegacyAnswer, legacyAnswers } from './wire/on-interrupt.js'
export { speaksNewest, toNewestVersion, toVersion10, withoutValueTypes } from './wire/versions.js'
export { negotiate } from './wire/protobuf.js'
export {
  createProtobufEncoder,
  decodeProtobuf,
  maxProtobufFrame,
  protobufMediaType,
  type ProtobufEncoder,
} from './wire/protobuf.js'
export {
  createSseEncoder,
  decodeSse,
  eventIdPrefix,
  formatEventId,
  parseEventId,
  sseHeaders,
  sseHeartbeat,
  type EventPosition,
  type SseEncoder,
  type SseFrame,
} from './wire/sse.js'
