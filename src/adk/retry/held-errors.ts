import type { Event } from '@google/adk'
import { isAnswer } from './failure.js'

/** The error events of one attempt that may be its end. */
export interface HeldErrors {
  /** What the attempt ended with, as far as it was an error. */
  readonly errors: readonly Event[]
  /** All that is held back, in order. */
  readonly events: readonly Event[]
  /** Takes the next event and gives what can be shown now. */
  take(event: Event): readonly Event[]
}

/**
 * Holds error events back until it is known what they mean. ADK may well go on after one, after a call of an unknown
 * tool for example: then something is said later, and the error was one event among others.
 */
export function createHeldErrors(): HeldErrors {
  let held: Event[] = []
  return {
    get errors() {
      return held.filter(isError)
    },
    get events() {
      return held
    },
    take(event) {
      const isLast = isError(event) || (held.length > 0 && !hasContent(event))
      if (isLast) {
        held.push(event)
        return []
      }
      if (held.length === 0) return [event]
      const shown = [...held, event]
      held = []
      return shown
    },
  }
}

/** Whether an event says nothing but that something went wrong. */
function isError(event: Event): boolean {
  return event.errorCode !== undefined && !hasContent(event) && !isAnswer(event)
}

function hasContent({ content }: Event): boolean {
  return (content?.parts?.length ?? 0) > 0
}
