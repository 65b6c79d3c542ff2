import type { Interrupt } from '@ag-ui/core'
import type { Schema } from './schema.js'

/** A question to a person, as a tool or an agent asks it. */
export interface InterruptRequest<Payload = unknown> {
  /** Why the run stops: `tool_call`, `input_required`, `confirmation`, or `<yours>:<name>`. */
  readonly reason?: string
  /** What the person reads. */
  readonly message?: string
  /** What an answer must look like. Answers that do not fit are refused before anything runs. */
  readonly responseSchema?: Schema<Payload>
  /** Kept for the asker, and given back as `resumed.state` when it runs again. Must be JSON. Not sent to clients. */
  readonly state?: unknown
  readonly expiresAt?: Interrupt['expiresAt']
  readonly metadata?: Interrupt['metadata']
}

export type Answer<Payload = unknown> =
  | { readonly status: 'resolved'; readonly payload: Payload }
  /** The person walked away from the question. */
  | { readonly status: 'cancelled' }

/** What every context that can stop to ask has in common. */
export interface Interrupting {
  /**
   * Stops the run to ask a person, or gives the answer when it is there. The first time it throws: let the error pass,
   * do not catch it. When the run is resumed, the asker runs again from its beginning, and this returns the answer.
   * Several questions in one asker are told apart by their order, which must not change.
   */
  readonly interrupt: <Payload = unknown>(request: InterruptRequest<Payload>) => Promise<Answer<Payload>>
  /** Set when this is not the first time: what the last question kept with `state`. */
  readonly resumed: { readonly state: unknown } | undefined
}
