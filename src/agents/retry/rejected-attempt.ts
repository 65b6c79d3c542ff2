import type { AgentEvent, EventOf } from '../../protocol/index.js'

type MessageEvent = EventOf<`${'TEXT' | 'REASONING'}_MESSAGE_${'START' | 'CONTENT' | 'CHUNK'}`>

interface ShownMessage {
  readonly id: string
  readonly kind: 'text' | 'reasoning'
  readonly role: NonNullable<EventOf<'TEXT_MESSAGE_CHUNK'>['role']>
  /** The subagent that says it. */
  readonly tag: string | undefined
  isOpen: boolean
}

/** What was shown of an attempt, and is taken back. */
export interface TakenBack {
  readonly events: AgentEvent[]
  readonly messageIds: string[]
}

/** What an attempt of an agent has shown so far, so that it can be closed and taken back. */
export class ShownAttempt {
  readonly #newId: (prefix: string) => string
  readonly #messages = new Map<string, ShownMessage>()
  /** What each lane says right now: it says one thing at a time. */
  readonly #current = new Map<string | undefined, ShownMessage>()
  /** What ends the spans, steps and subagents that are open. */
  readonly #ends = new Map<string, AgentEvent>()
  readonly #endedSubagents = new Set<string>()
  readonly #openCalls = new Set<string>()
  #hasResults = false

  constructor(newId: (prefix: string) => string) {
    this.#newId = newId
  }

  /** Whether a tool was called whose result was not shown. */
  get hasOpenCalls(): boolean {
    return this.#openCalls.size > 0
  }

  /** Whether the result of a tool was shown. */
  get hasResults(): boolean {
    return this.#hasResults
  }

  /**
   * Takes the next event, and gives it as it is to be yielded: a chunk without an id is told its message. Otherwise a
   * new attempt would go on with what the last one has left open.
   */
  take(event: AgentEvent): AgentEvent {
    switch (event.type) {
      case 'TEXT_MESSAGE_START':
      case 'TEXT_MESSAGE_CONTENT':
      case 'TEXT_MESSAGE_CHUNK':
      case 'REASONING_MESSAGE_START':
      case 'REASONING_MESSAGE_CONTENT':
      case 'REASONING_MESSAGE_CHUNK':
        return this.#say(event)
      case 'TEXT_MESSAGE_END':
      case 'REASONING_MESSAGE_END':
        close(this.#messages.get(event.messageId))
        return event
      default:
        this.#note(event)
        return event
    }
  }

  /** Marks messages as taken back, all or only those that were not complete, and closes whatever is open. */
  takeBack(which: 'all' | 'incomplete', reason: string): TakenBack {
    const messages = [...this.#messages.values()].filter(({ isOpen }) => isOpen || which === 'all')
    // A subagent that has ended says nothing any more. Models do not see what it said either.
    const marked = messages.filter(({ tag }) => tag === undefined || !this.#endedSubagents.has(tag))
    const ends = [...this.#ends.values()].reverse()
    return {
      events: [...marked.flatMap((message) => rejected(message, reason)), ...ends],
      messageIds: messages.map(({ id }) => id),
    }
  }

  #say(event: MessageEvent): AgentEvent {
    const kind = event.type.startsWith('TEXT') ? 'text' : 'reasoning'
    const { subagentRunId: tag } = event
    const current = this.#current.get(tag)
    const going = current?.isOpen === true && current.kind === kind ? current.id : undefined
    const id = event.messageId ?? going ?? this.#newId(kind === 'text' ? 'message' : 'reasoning')
    if (id !== current?.id) close(current)
    const role =
      event.type === 'TEXT_MESSAGE_START' || event.type === 'TEXT_MESSAGE_CHUNK' ? event.role : undefined
    const message = this.#messages.get(id) ?? { id, kind, role: role ?? 'assistant', tag, isOpen: true }
    message.isOpen = true
    this.#messages.set(id, message)
    this.#current.set(tag, message)
    return event.messageId === undefined ? { ...event, messageId: id } : event
  }

  #note(event: AgentEvent): void {
    const owner = 'subagentRunId' in event ? event.subagentRunId : undefined
    const tag = owner === undefined ? {} : { subagentRunId: owner }
    switch (event.type) {
      case 'TOOL_CALL_START':
      case 'TOOL_CALL_CHUNK':
      case 'TOOL_CALL_ARGS':
        close(this.#current.get(owner))
        if (event.toolCallId !== undefined) this.#openCalls.add(event.toolCallId)
        return
      case 'TOOL_CALL_RESULT':
        this.#openCalls.delete(event.toolCallId)
        this.#hasResults = true
        return
      case 'REASONING_START':
        this.#ends.set(`span ${event.messageId}`, {
          type: 'REASONING_END',
          messageId: event.messageId,
          ...tag,
        })
        return
      case 'REASONING_END':
        this.#ends.delete(`span ${event.messageId}`)
        return
      case 'STEP_STARTED':
        this.#ends.set(stepKey(event), { type: 'STEP_FINISHED', stepName: event.stepName, ...tag })
        return
      case 'STEP_FINISHED':
        this.#ends.delete(stepKey(event))
        return
      default:
        this.#noteSubagent(event)
    }
  }

  #noteSubagent(event: AgentEvent): void {
    if (event.type === 'SUBAGENT_STARTED') {
      const { subagentRunId } = event
      const message = 'The attempt it was part of has failed.'
      this.#endedSubagents.delete(subagentRunId)
      this.#ends.set(`subagent ${subagentRunId}`, { type: 'SUBAGENT_ERROR', subagentRunId, message })
    }
    if (event.type === 'SUBAGENT_FINISHED' || event.type === 'SUBAGENT_ERROR') {
      this.#endedSubagents.add(event.subagentRunId)
      this.#ends.delete(`subagent ${event.subagentRunId}`)
    }
  }
}

function close(message: ShownMessage | undefined): void {
  if (message) message.isOpen = false
}

function stepKey({ stepName, subagentRunId }: EventOf<'STEP_STARTED' | 'STEP_FINISHED'>): string {
  return JSON.stringify([stepName, subagentRunId])
}

/** The run stream opens a message again that has ended, and only carries the mark to the end of one that has not. */
function rejected({ id: messageId, kind, role, tag }: ShownMessage, reason: string): AgentEvent[] {
  const lane = tag === undefined ? {} : { subagentRunId: tag }
  const mark = { metadata: { millrace: { rejected: reason } } }
  if (kind === 'text')
    return [
      { type: 'TEXT_MESSAGE_START', messageId, role, ...lane, ...mark },
      { type: 'TEXT_MESSAGE_END', messageId, ...lane },
    ]
  return [
    { type: 'REASONING_MESSAGE_START', messageId, role: 'reasoning', ...lane, ...mark },
    { type: 'REASONING_MESSAGE_END', messageId, ...lane },
  ]
}
