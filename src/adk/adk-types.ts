import type { Event } from '@google/adk'

/** One entry of a conversation with a model. A type of `@google/genai`, taken from ADK's own types. */
export type Content = NonNullable<Event['content']>
export type Part = NonNullable<Content['parts']>[number]
export type FunctionCall = NonNullable<Part['functionCall']>
export type FunctionResponse = NonNullable<Part['functionResponse']>

/** The key of a session in a session service. */
export interface SessionKey {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
}
