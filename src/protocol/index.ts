export type { AgentEvent, AgUiEvent, EventOf } from './events.js'
export { compactRun } from './fold/compact.js'
export { createFold, type Fold, type FoldOptions } from './fold/fold.js'
export { eventProblem } from './check/event-problem.js'
export type { FieldNote } from './check/field-note.js'
export {
  cancelledMark,
  describeContent,
  isCutOff,
  isRejected,
  isToolError,
  rejectedMark,
  rejectMessage,
  toolErrorMark,
} from './messages.js'
export { parseRunInput, type ParsedRunInput, type Peer, type RunInput } from './input/parse-run-input.js'
export type { CloseOptions, FailOptions, RunEnd } from './run-stream/ending.js'
export {
  createRunStream,
  resumeRunStream,
  type ResumeRunStreamOptions,
  type RunStream,
  type RunStreamOptions,
} from './run-stream/run-stream.js'
export { withRunStream, type WithRunStreamOptions } from './run-stream/with-run-stream.js'
export { isRunStateKey, isThreadStateKey } from './state-keys.js'
export type { DecodedFrame, EventFrame, MalformedFrame } from './wire/decoded-frame.js'
export { createDowngrade, type Downgrade, type DowngradeOptions } from './wire/downgrade.js'
export { eventIdPrefix, formatEventId, parseEventId, type EventPosition } from './wire/event-id.js'
export { negotiate, type WireFormat } from './wire/negotiate.js'
export {
  createProtobufEncoder,
  decodeProtobuf,
  maxProtobufFrame,
  protobufMediaType,
  type ProtobufEncoder,
} from './wire/protobuf.js'
export { decodeSse, type SseFrame } from './wire/sse-decode.js'
export { createSseEncoder, sseHeaders, sseHeartbeat, type SseEncoder } from './wire/sse.js'
