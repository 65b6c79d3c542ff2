import type { Event } from '@google/adk'

/** A turn as models see it. ADK takes these types from `@google/genai`; here they come from ADK itself. */
export type Content = NonNullable<Event['content']>
export type Part = NonNullable<Content['parts']>[number]
export type FunctionCall = NonNullable<Part['functionCall']>
export type FunctionResponse = NonNullable<Part['functionResponse']>

/** Where ADK keeps a conversation. */
export interface SessionKey {
  readonly appName: string
  readonly userId: string
  readonly sessionId: string
}
