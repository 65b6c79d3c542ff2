import {
  contentHasMedia,
  contentToText,
  type ContentPart,
  type Message,
  type RunAgentInput,
} from '@ag-ui/core'
import { errorTexts } from '../../core/error-texts.js'
import { formatPath, type FieldPath } from '../check/check-value.js'
import type { AgUiEvent, EventOf, FieldNote, Fold } from '../contract.js'
import { createFold } from '../fold/fold.js'
import { isForDisplay } from '../messages.js'
import { createSubagentInliner, type Lose } from './inline-subagents.js'
import { hidesValue, onInterruptEvents } from './on-interrupt.js'
import { toVersion10 } from './versions.js'

export interface DowngradeOptions {
  /**
   * Called for the first loss of each kind in a run, with its event and field: `TOOL_CALL_RESULT.content`. Must not
   * throw.
   */
  readonly warn?: (note: FieldNote) => void
  /**
   * `inline`, the default, shows the work of subagents as the parent's own: clients before 0.0.59 fail on the
   * events that announce a subagent. `keep` leaves those events and the attribution as they are.
   */
  readonly subagents?: 'inline' | 'keep'
  /** Gives a message of a snapshot the name of its agent, if it has none and the name is known. Default: none is known. */
  readonly withAuthor?: (message: Message) => Message
}

/** Turns an event into those that an older client reads: one, several or none. Never mutates the event. */
export type Downgrade = (event: AgUiEvent) => readonly AgUiEvent[]

/**
 * Makes the downgrade of one stream to a client that declares no protocol version. Such clients (0.0.59 and before)
 * validate strictly: one shape they do not know ends the whole stream. The result is also valid AG-UI 1.0.
 *
 * Takes the events of a stream in order. Chunk events must have been expanded, as the run stream does: without the
 * attribution, one that names no message could continue the wrong one.
 */
export function createDowngrade({
  warn = () => undefined,
  subagents = 'inline',
  withAuthor = (message) => message,
}: DowngradeOptions = {}): Downgrade {
  const losses = new Set<string>()
  const lose: Lose = (kind, path) => {
    if (losses.has(kind)) return
    losses.add(kind)
    warn({ field: formatPath(path), message: `${kind} dropped for a client before 1.0` })
  }
  const inline =
    subagents === 'inline' ? createSubagentInliner(lose, withAuthor) : (event: AgUiEvent) => event
  const fits = createDeltaCheck()
  return function downgrade(event) {
    if (event.type === 'RUN_STARTED') losses.clear()
    const inlined = inline(event)
    if (!inlined) return []
    if (!fits(inlined)) {
      lose('state', [inlined.type])
      return []
    }
    const shown = toLegacyShape(toVersion10(inlined), lose)
    if (shown.type !== 'RUN_FINISHED' || shown.outcome?.type !== 'interrupt') return [shown]
    const { outcome, ...bareEnd } = shown
    return [...onInterruptEvents(outcome.interrupts), hidesValue(outcome.interrupts) ? bareEnd : shown]
  }
}

/** Rewrites the shapes of AG-UI 1.0 that the strict schemas of 0.0.59 refuse. All others pass as they are. */
function toLegacyShape(event: AgUiEvent, lose: Lose): AgUiEvent {
  switch (event.type) {
    case 'RUN_STARTED':
      return event.input ? { ...event, input: legacyInput(event.input, lose) } : event
    case 'RUN_FINISHED':
      return legacyEnd(event, lose)
    case 'MESSAGES_SNAPSHOT':
      return { ...event, messages: legacyMessages(event.messages, [event.type], lose) }
    case 'TOOL_CALL_RESULT':
      if (typeof event.content === 'string') return event
      return { ...event, content: withoutMedia(event.content, [event.type, 'content'], lose) }
    default:
      return event
  }
}

/** The type of the echoed input requires both lists, the protocol does not; before 1.0 both had to be there. */
type EchoedInput = Omit<RunAgentInput, 'tools' | 'context'> & Partial<RunAgentInput>

function legacyInput(input: EchoedInput, lose: Lose): RunAgentInput {
  const { tools = [], context = [] } = input
  return {
    ...input,
    tools,
    context,
    messages: legacyMessages(input.messages, ['RUN_STARTED', 'input'], lose),
  }
}

function legacyEnd(event: EventOf<'RUN_FINISHED'>, lose: Lose): AgUiEvent {
  switch (event.outcome?.type) {
    case undefined:
      return event
    case 'success': {
      const { outcome, ...rest } = event
      // Some of these clients read `success` as the end of the work, and do not report the results of their own tools.
      return outcome.pendingToolCallIds?.length ? rest : { ...event, outcome: { type: 'success' } }
    }
    case 'interrupt': {
      // A client that finds an interrupt expired refuses even to cancel it, and cannot continue the thread.
      const interrupts = event.outcome.interrupts.map(({ expiresAt, ...interrupt }, index) => {
        if (expiresAt !== undefined) lose('expiry', [event.type, 'outcome', 'interrupts', index, 'expiresAt'])
        return interrupt
      })
      return { ...event, outcome: { type: 'interrupt', interrupts } }
    }
    case 'cancelled': {
      const { threadId: _threadId, runId: _runId, outcome: _outcome, ...rest } = event
      // The code that clients use for a run they aborted themselves, and hide from the user.
      return { ...rest, type: 'RUN_ERROR', message: errorTexts.RUN_CANCELLED, code: 'abort' }
    }
  }
}

function legacyMessages(messages: readonly Message[], path: FieldPath, lose: Lose): Message[] {
  return messages.map((message, index) => {
    if (!Array.isArray(message.content)) return message
    const field = [...path, 'messages', index, 'content']
    if (message.role === 'tool') return { ...message, content: withoutMedia(message.content, field, lose) }
    if (message.role === 'user') return { ...message, content: withoutFiles(message.content, field, lose) }
    return message
  })
}

/** The text of a tool result, which was a string before 1.0. */
function withoutMedia(content: ContentPart[], field: FieldPath, lose: Lose): string {
  if (contentHasMedia(content)) lose('media', field)
  return contentToText(content)
}

/** Leaves out the handles of files at a provider, which are new in 1.0. */
function withoutFiles(content: ContentPart[], field: FieldPath, lose: Lose): ContentPart[] {
  return content.filter((part, index) => {
    const keep = part.type === 'text' || part.source.type !== 'file'
    if (!keep) lose('file', [...field, index])
    return keep
  })
}

/**
 * Tells whether a client can take an event that changes its state. Runtimes that keep runs, CopilotKit's for one, apply the
 * deltas of a run to its snapshots alone and break down when one does not fit. Hooks may want no snapshot, or show
 * another state than the deltas are for.
 */
function createDeltaCheck(): (event: AgUiEvent) => boolean {
  // A stream that begins in the middle of a run is for a client that has seen the beginning.
  let lacksSnapshot = false
  let shown: Fold | undefined
  return function fits(event) {
    if (event.type === 'RUN_STARTED') lacksSnapshot = true
    else if (event.type === 'STATE_SNAPSHOT') {
      lacksSnapshot = false
      shown = isForDisplay(event) ? createFold({ state: event.snapshot }) : undefined
    } else if (event.type === 'STATE_DELTA') return !lacksSnapshot && shown?.apply(event) === undefined
    return true
  }
}
