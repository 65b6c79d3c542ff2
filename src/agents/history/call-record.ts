import type { Message } from '@ag-ui/core'
import { cancelledMark, createRunStream, isRejected, type AgentEvent } from '../../protocol/index.js'
import { createVoices } from './hidden-spans.js'

/**
 * What is said behind a tool call. The agents there hear each other from it: the conversation of the run may not have
 * their words, since not everything that is done for a call is shown.
 */
export interface CallRecord {
  readonly messages: readonly Message[]
  see(event: AgentEvent): void
  /** The last text that was not taken back. */
  lastWords(): string
  /** All of it, to go on from; what is not whole is marked. Nothing is added after that. */
  close(): readonly Message[]
}

export interface CallRecordOptions {
  readonly name: string
  readonly subagentRunId: string
  /** What was said before the run paused or was stopped. */
  readonly before: readonly Message[]
}

export function createCallRecord({ name, subagentRunId, before }: CallRecordOptions): CallRecord {
  const voices = createVoices()
  const stream = createRunStream({
    threadId: '',
    runId: subagentRunId,
    messages: before,
    emit: () => undefined,
  })
  stream.write({ type: 'SUBAGENT_STARTED', subagentRunId, name })
  return {
    get messages() {
      return stream.fold.messages
    },
    see(event) {
      voices.see(event)
      if (stream.ended || !isWord(event) || !voices.isHeard(event.subagentRunId)) return
      try {
        stream.write(event)
      } catch {
        // One that has no meaning is for the stream of the run to complain of, and no word.
      }
    },
    lastWords: () => lastTextIn(stream.fold.messages),
    close() {
      if (!stream.ended) stream.finish({ type: 'cancelled', mark: cancelledMark })
      return stream.fold.messages
    },
  }
}

type Word = Exclude<AgentEvent, { type: 'MESSAGES_SNAPSHOT' }>

function isWord(event: AgentEvent): event is Word {
  return /^(TEXT|REASONING|TOOL_CALL|SUBAGENT)_/.test(event.type)
}

function lastTextIn(messages: readonly Message[]): string {
  const last = messages.findLast(
    (message) => message.role === 'assistant' && message.content !== undefined && !isRejected(message),
  )
  return last?.role === 'assistant' ? (last.content ?? '') : ''
}
