import type { Message } from '@ag-ui/core'
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
 * The request of a client that knows a version, as one with the whole list would send it. A client that knows another
 * version, and one that edits or regenerates, gets the whole thread instead.
 */
export function addKnownPart(
  input: RunInput,
  known: number,
  { thread, rules }: { readonly thread: Thread | undefined; readonly rules: StateRulesHandle },
): KnownPart {
  if (known !== (thread?.version ?? 0)) return { input, isInStep: false }
  if (!thread) return { input, isInStep: true }
  const stored = new Set(thread.messages.map(({ id }) => id))
  if (input.messages.some(({ id }) => stored.has(id))) return { input, isInStep: false }
  const state: unknown = isEmptyState(input.state) ? rules.visible(thread.state) : input.state
  return { input: { ...input, state, messages: [...thread.messages, ...input.messages] }, isInStep: true }
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
