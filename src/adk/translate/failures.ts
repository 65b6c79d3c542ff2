import type { Event } from '@google/adk'
import { tagOf, type Lane } from './lane.js'
import type { EventSink } from '../../agents/index.js'
import { isTail } from './usage.js'

export interface Failure {
  readonly code: string
  readonly message: string
}

/** Errors that ADK tells as events. None of them is the end by itself: agents may go on. */
export interface Failures {
  readonly current: Failure | undefined
  /** Notes what an event says of an error, or of the reason why the model stopped. */
  note(lane: Lane, event: Event): void
  /** Something useful came: what went wrong before did not end the run. */
  overcome(): void
  /** All is tried again. */
  forget(): void
}

export function createFailures(sink: EventSink, report: (problem: string) => void): Failures {
  let current: (Failure & { readonly author: string; readonly tag: ReturnType<typeof tagOf> }) | undefined

  const overcome = (): void => {
    if (!current) return
    const { code, message, author, tag } = current
    current = undefined
    // The words are the provider's: they are for the server, not for clients.
    report(`agent '${author}' went on after an error: ${code} ${message}`)
    sink.add({ type: 'CUSTOM', name: 'adk.error', value: { code, author }, ...tag })
  }

  return {
    get current() {
      return current && { code: current.code, message: current.message }
    },
    overcome,
    forget: () => {
      current = undefined
    },
    note(lane, event) {
      const { errorCode, errorMessage: message = '', finishReason } = event
      const reason = errorCode ?? finishReason
      if (reason === undefined || reason === 'STOP') return
      // With something said, or after it, it is only why the model has stopped there.
      if (event.content?.parts?.length || (isTail(event) && lane.hasSpoken)) {
        sink.add({ type: 'CUSTOM', name: 'adk.finish', value: { reason }, ...tagOf(lane) })
      } else if (errorCode !== undefined) {
        if (current?.code === errorCode && current.message === message) return
        overcome()
        current = { code: errorCode, message, author: lane.author, tag: tagOf(lane) }
      }
    },
  }
}
