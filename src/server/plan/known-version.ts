import type { Message } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { isEqual } from '../../core/json.js'
import { threadEventName, type AgentEvent, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/contract.js'
import { invalidField } from '../request/errors.js'
import { isEmptyState } from '../state/merge-state.js'
import type { StateRulesHandle } from '../state/state-rules.js'

/** The header of a client that knows a version of the thread and sends only what is new; 0 for one that knows none. */
const versionHeader = 'millrace-version'

/** Reads the version that a client knows. Undefined for a client that sends its whole list of messages. */
export function readKnownVersion(headers: Headers): number | undefined {
  const text = headers.get(versionHeader)
  if (text === null) return undefined
  if (/^\d{1,15}$/.test(text)) return Number(text)
  throw invalidField(versionHeader, 'expected the version of a thread, a whole number')
}

interface KnownPart {
  readonly input: RunInput
  /** Whether the client has all of the thread, so that it needs no snapshots. */
  readonly isInStep: boolean
}

/**
 * The request of a client that knows a version, as one with the whole list would send it. A client that edits or regenerates
 * sends the message alone: what stands before it is added, and the client gets the whole thread. So does one that knows
 * another version; it cannot regenerate, since what it sends may just come again. Throws VERSION_CONFLICT then.
 */
export function addKnownPart(
  input: RunInput,
  known: number,
  { thread, rules }: { readonly thread: Thread | undefined; readonly rules: StateRulesHandle },
): KnownPart {
  if (!thread) return { input, isInStep: known === 0 }
  const isKnown = known === thread.version
  const first = firstStored(thread.messages, input.messages)
  if (first !== undefined && isKnown) {
    const messages = [...thread.messages.slice(0, first), ...input.messages]
    return { input: { ...input, messages }, isInStep: false }
  }
  if (first !== undefined && asksAgain(thread.messages[first], input))
    throw new MillraceError('VERSION_CONFLICT', 'The thread has changed since. Load it, and send this again.')
  if (first !== undefined || !isKnown) return { input, isInStep: false }
  const state: unknown = isEmptyState(input.state) ? rules.visible(thread.state) : input.state
  return { input: { ...input, state, messages: [...thread.messages, ...input.messages] }, isInStep: true }
}

/** The position of the first stored message that a request has. */
function firstStored(stored: readonly Message[], sent: readonly Message[]): number | undefined {
  const ids = new Set(sent.map(({ id }) => id))
  const first = stored.findIndex(({ id }) => ids.has(id))
  return first === -1 ? undefined : first
}

/** Whether a request has nothing but a message of the user that is stored. */
function asksAgain(message: Message | undefined, { messages, resume }: RunInput): boolean {
  return (
    message?.role === 'user' &&
    messages.length === 1 &&
    resume.length === 0 &&
    isEqual(message.content, messages[0]?.content)
  )
}

/** All that a client needs which knows another version of the thread: it forgets what it has. With the full state. */
export function wholeThread(
  version: number,
  { messages, state }: { readonly messages: readonly Message[]; readonly state: unknown },
): AgentEvent[] {
  return [
    { type: 'CUSTOM', name: threadEventName, value: { version } },
    { type: 'MESSAGES_SNAPSHOT', messages: [...messages] },
    { type: 'STATE_SNAPSHOT', snapshot: state },
  ]
}
