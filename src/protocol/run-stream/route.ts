import type { AgentEvent, EventOf } from '../events.js'
import { openLaneOf, writeSubagentEnd, writeSubagentStart } from './lanes.js'
import { writeMessage, type MessageWrite } from './messages.js'
import { writeSpanEnd, writeSpanStart } from './reasoning-span.js'
import { attributed, type Extras, type Run } from './run.js'
import { writeStateDelta, writeStateSnapshot } from './state.js'
import { writeStepEnd, writeStepStart } from './steps.js'
import {
  writeActivityDelta,
  writeActivitySnapshot,
  writeEncryptedValue,
  writeMessagesSnapshot,
} from './thread-events.js'
import { writeCall, writeResult, type CallWrite } from './tool-calls.js'

/** Gives a clean event to the writer of its family. */
export function route(run: Run, event: AgentEvent): void {
  switch (event.type) {
    case 'TEXT_MESSAGE_START':
    case 'TEXT_MESSAGE_CONTENT':
    case 'TEXT_MESSAGE_END':
    case 'TEXT_MESSAGE_CHUNK':
    case 'REASONING_MESSAGE_START':
    case 'REASONING_MESSAGE_CONTENT':
    case 'REASONING_MESSAGE_END':
    case 'REASONING_MESSAGE_CHUNK':
      return writeMessage(run, toMessageWrite(event))
    case 'TOOL_CALL_START':
    case 'TOOL_CALL_ARGS':
    case 'TOOL_CALL_END':
    case 'TOOL_CALL_CHUNK':
      return writeCall(run, toCallWrite(event))
    case 'TOOL_CALL_RESULT':
      return writeResult(run, event)
    case 'REASONING_START':
      return writeSpanStart(run, event)
    case 'REASONING_END':
      return writeSpanEnd(run, event)
    case 'REASONING_ENCRYPTED_VALUE':
      return writeEncryptedValue(run, event)
    case 'STATE_SNAPSHOT':
      return writeStateSnapshot(run, event)
    case 'STATE_DELTA':
      return writeStateDelta(run, event)
    case 'MESSAGES_SNAPSHOT':
      return writeMessagesSnapshot(run, event)
    case 'ACTIVITY_SNAPSHOT':
      return writeActivitySnapshot(run, event)
    case 'ACTIVITY_DELTA':
      return writeActivityDelta(run, event)
    case 'STEP_STARTED':
      return writeStepStart(run, event)
    case 'STEP_FINISHED':
      return writeStepEnd(run, event)
    case 'SUBAGENT_STARTED':
      return writeSubagentStart(run, event)
    case 'SUBAGENT_FINISHED':
    case 'SUBAGENT_ERROR':
      return writeSubagentEnd(run, event)
    case 'RAW':
    case 'CUSTOM':
      return run.emit(attributed(event, openLaneOf(run, event.subagentRunId)))
  }
}

const phases = { START: 'start', CONTENT: 'content', ARGS: 'args', END: 'end', CHUNK: 'chunk' } as const

type MessageEvent = EventOf<`${'TEXT' | 'REASONING'}_MESSAGE_${'START' | 'CONTENT' | 'END' | 'CHUNK'}`>

function toMessageWrite(event: MessageEvent): MessageWrite {
  const text = event.type === 'TEXT_MESSAGE_START' || event.type === 'TEXT_MESSAGE_CHUNK' ? event : undefined
  return {
    kind: event.type.startsWith('TEXT') ? 'text' : 'reasoning',
    phase: phases[event.type.slice(event.type.lastIndexOf('_') + 1) as 'START' | 'CONTENT' | 'END' | 'CHUNK'],
    messageId: event.messageId,
    tag: event.subagentRunId,
    delta: 'delta' in event ? event.delta : undefined,
    role: text?.role,
    name: text?.name,
    extras: extrasOf(event),
  }
}

type CallEvent = EventOf<`TOOL_CALL_${'START' | 'ARGS' | 'END' | 'CHUNK'}`>

function toCallWrite(event: CallEvent): CallWrite {
  const start = event.type === 'TOOL_CALL_START' || event.type === 'TOOL_CALL_CHUNK' ? event : undefined
  return {
    phase: phases[event.type.slice('TOOL_CALL_'.length) as 'START' | 'ARGS' | 'END' | 'CHUNK'],
    toolCallId: event.toolCallId,
    tag: event.subagentRunId,
    delta: 'delta' in event ? event.delta : undefined,
    toolCallName: start?.toolCallName,
    parentMessageId: start?.parentMessageId,
    extras: extrasOf(event),
  }
}

function extrasOf({ timestamp, rawEvent, metadata }: Extras): Extras {
  return {
    ...(timestamp === undefined ? {} : { timestamp }),
    ...(rawEvent === undefined ? {} : { rawEvent: rawEvent as unknown }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}
