import { createEvent, type Event } from '@google/adk'

/** What the events that tell of retries say. */
export interface RetryNews {
  /** The how manieth retry it is, from 1. */
  readonly attempt: number
  readonly maxRetries: number
  /** Now, in milliseconds. */
  readonly timestamp: number
}

/** Tells that a retry follows. Progress, no failure: it is not stored, and no model sees it. */
export function retryEvent({ attempt, maxRetries, timestamp }: RetryNews): Event {
  const text = `Retry attempt ${attempt}/${maxRetries} for agent execution`
  return createEvent({
    author: 'system',
    content: { parts: [{ text }] },
    errorCode: 'RETRY_ATTEMPT',
    errorMessage: text,
    timestamp,
  })
}

/** Tells that there is no retry left: the last event of a run that failed for good. */
export function exhaustedEvent({ maxRetries, timestamp }: Omit<RetryNews, 'attempt'>): Event {
  return createEvent({
    author: 'system',
    errorCode: 'MAX_RETRIES_EXCEEDED',
    errorMessage: `Agent execution failed after ${maxRetries} retry attempts`,
    actions: { escalate: true },
    timestamp,
  })
}
