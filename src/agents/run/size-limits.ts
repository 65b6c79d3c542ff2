import { MillraceError } from '../../core/errors.js'
import { jsonSize } from '../../core/json-size.js'
import { toJson } from '../../core/to-json.js'
import type { AgentEvent, Fold } from '../../protocol/index.js'

/** How large a run may make things, in bytes of their JSON. */
export interface SizeLimits {
  /** One event. Snapshots have the limit of what they show. */
  readonly eventBytes: number
  /** The messages of the thread. */
  readonly threadBytes: number
  /** The state of the thread. */
  readonly stateBytes: number
}

/** How much may be added before the whole is measured, as a part of its limit. */
const stepPart = 16

/**
 * Keeps a run within its limits. An event that is too large is refused before it is written. What events add up to is measured
 * after they were: so nothing that was shown is taken back, the run ends there. Measures the whole only after a part of the limit
 * was added, so that the work per event does not grow with the thread; a run may exceed a limit by that part.
 */
export class SizeGuard {
  readonly #limits: SizeLimits
  readonly #fold: Pick<Fold, 'messages' | 'state'>
  #addedToThread = 0
  #addedToState = 0

  constructor(limits: SizeLimits, fold: Pick<Fold, 'messages' | 'state'>) {
    this.#limits = limits
    this.#fold = fold
  }

  /** Throws for an event that must not be written. Returns its size. */
  measure(event: AgentEvent): number {
    const { eventBytes, stateBytes, threadBytes } = this.#limits
    // The path of every token.
    if ('delta' in event && typeof event.delta === 'string') {
      if (event.delta.length > eventBytes) throw eventTooLarge(event, eventBytes)
      return event.delta.length
    }
    switch (event.type) {
      case 'STATE_SNAPSHOT':
        return sizeWithin(stateBytes, event, 'snapshot') ?? raise(stateTooLarge(stateBytes))
      case 'MESSAGES_SNAPSHOT':
        return sizeWithin(threadBytes, event, 'messages') ?? raise(threadFull(threadBytes))
      default:
        return sizeWithin(eventBytes, event) ?? raise(eventTooLarge(event, eventBytes))
    }
  }

  /** Throws, when an event of this size was written, if the thread or its state is too large now. */
  add(event: AgentEvent, size: number): void {
    switch (event.type) {
      case 'STATE_DELTA':
        // A copy adds more than the event has.
        this.#addToState(event.delta.some(({ op }) => op === 'copy') ? Infinity : size)
        return
      case 'STATE_SNAPSHOT':
        return
      default:
        this.#addToThread(size)
    }
  }

  #addToState(size: number): void {
    const { stateBytes } = this.#limits
    this.#addedToState += size
    if (this.#addedToState * stepPart < stateBytes) return
    this.#addedToState = 0
    if (jsonSize(this.#fold.state, stateBytes) > stateBytes) throw stateTooLarge(stateBytes)
  }

  #addToThread(size: number): void {
    const { threadBytes } = this.#limits
    this.#addedToThread += size
    if (this.#addedToThread * stepPart < threadBytes) return
    this.#addedToThread = 0
    if (jsonSize(this.#fold.messages, threadBytes) > threadBytes) throw threadFull(threadBytes)
  }
}

/**
 * The size of an event, or of one member. Undefined when it is too large. Agents write values that are not JSON yet: one that
 * cannot be JSON, a circle for example, is that and not too large. Throws ENCODING_ERROR for it.
 */
function sizeWithin(most: number, event: AgentEvent, member?: string): number | undefined {
  const sizeOf = (whole: unknown): number =>
    jsonSize(member === undefined ? whole : Reflect.get(Object(whole), member), most)
  try {
    const size = sizeOf(event)
    if (size <= most) return size
  } catch {
    // A getter has thrown.
  }
  const size = sizeOf(toJson(event, event.type))
  return size <= most ? size : undefined
}

function raise(error: MillraceError): never {
  throw error
}

function eventTooLarge({ type }: Pick<AgentEvent, 'type'>, eventBytes: number): MillraceError {
  return new MillraceError(
    'EVENT_TOO_LARGE',
    `The agent wrote ${type} with more than ${eventBytes} bytes (limits.eventBytes). Send less at once.`,
  )
}

/** The thread takes no more messages. */
export function threadFull(threadBytes: number): MillraceError {
  return new MillraceError(
    'THREAD_FULL',
    `The messages of the thread have more than ${threadBytes} bytes (limits.threadBytes). Nothing is lost. Start a new thread, or edit an earlier message to continue from there.`,
  )
}

/** The state is larger than a thread may have. */
export function stateTooLarge(stateBytes: number): MillraceError {
  return new MillraceError(
    'STATE_TOO_LARGE',
    `The state of the thread has more than ${stateBytes} bytes (limits.stateBytes). Make it smaller, or start a new thread.`,
  )
}
