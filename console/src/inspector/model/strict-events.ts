import { eventProblem, type AgUiEvent } from 'millrace/protocol'
import { isRecord } from './json.js'

/** What an event of the wire is for a client: none, one, or several strict events. */
export interface StrictEvents {
  readonly events: readonly AgUiEvent[]
  /** Why a client would not take it. */
  readonly problem?: string
}

/**
 * Makes the reader of one stream: expands chunks, and reads the names of AG-UI before 1.0. It is lenient where clients are:
 * members that are null count as absent, types that nobody knows are passed over.
 */
export function createStrictReader(): (event: unknown) => StrictEvents {
  const lanes = new Map<string, Lane>()
  let thinking = 0
  return (value) => {
    if (!isRecord(value) || typeof value.type !== 'string') return none
    const event = withoutNulls(value)
    const owner = typeof event.subagentRunId === 'string' ? event.subagentRunId : ''
    const lane = lanes.get(owner) ?? new Lane()
    lanes.set(owner, lane)
    if (event.type === 'THINKING_START') thinking++
    const events = lane.expand(toReasoning(event, `thinking-${thinking}`))
    for (const one of events) {
      const problem = eventProblem(one as AgUiEvent)
      if (problem !== undefined) return { events: [], problem }
    }
    return { events: events as AgUiEvent[] }
  }
}

type Loose = Record<string, unknown> & { readonly type?: unknown }

const none: StrictEvents = { events: [] }

/** What is open in one lane, for chunks that do not say what they belong to. */
class Lane {
  readonly #known = new Set<unknown>()
  #message: unknown
  #call: unknown
  #reasoning: unknown

  expand(event: Loose): readonly Loose[] {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'REASONING_MESSAGE_START':
        this.#known.add(event.messageId)
        return [event]
      case 'TOOL_CALL_START':
        this.#known.add(event.toolCallId)
        return [event]
      case 'TEXT_MESSAGE_CHUNK':
        this.#message = event.messageId ?? this.#message
        return this.#chunk(event, 'TEXT_MESSAGE', { messageId: this.#message })
      case 'REASONING_MESSAGE_CHUNK':
        this.#reasoning = event.messageId ?? this.#reasoning
        return this.#chunk(event, 'REASONING_MESSAGE', { messageId: this.#reasoning })
      case 'TOOL_CALL_CHUNK':
        this.#call = event.toolCallId ?? this.#call
        return this.#chunk(event, 'TOOL_CALL', { toolCallId: this.#call })
      default:
        return [event]
    }
  }

  #chunk(event: Loose, kind: string, id: Readonly<Record<string, unknown>>): Loose[] {
    const { delta, type: _, ...rest } = event
    const [key] = Object.values(id)
    const isNew = !this.#known.has(key)
    this.#known.add(key)
    const role = kind === 'REASONING_MESSAGE' ? { role: 'reasoning' } : {}
    const content = kind === 'TOOL_CALL' ? 'TOOL_CALL_ARGS' : `${kind}_CONTENT`
    const owner = rest.subagentRunId === undefined ? {} : { subagentRunId: rest.subagentRunId }
    return [
      ...(isNew ? [{ ...role, ...rest, ...id, type: `${kind}_START` }] : []),
      ...(delta === undefined ? [] : [{ type: content, ...id, ...owner, delta }]),
    ]
  }
}

/** Before 1.0, reasoning was THINKING, and had no ids. */
function toReasoning(event: Loose, messageId: string): Loose {
  switch (event.type) {
    case 'THINKING_START':
      return { type: 'REASONING_START', messageId }
    case 'THINKING_END':
      return { type: 'REASONING_END', messageId }
    case 'THINKING_TEXT_MESSAGE_START':
      return { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning' }
    case 'THINKING_TEXT_MESSAGE_CONTENT':
      return { type: 'REASONING_MESSAGE_CONTENT', messageId, delta: event.delta }
    case 'THINKING_TEXT_MESSAGE_END':
      return { type: 'REASONING_MESSAGE_END', messageId }
    default:
      return event
  }
}

function withoutNulls(event: Record<string, unknown>): Loose {
  for (const key in event)
    if (event[key] === null && !mayBeNull.has(key))
      return Object.fromEntries(
        Object.entries(event).filter(([name, value]) => value !== null || mayBeNull.has(name)),
      )
  return event
}

/** Members whose value may be any JSON. */
const mayBeNull = new Set(['snapshot', 'value', 'result', 'event', 'rawEvent'])
