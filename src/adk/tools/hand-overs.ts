import type { InvocationContext } from '@google/adk'

/**
 * Who has handed the conversation over to whom. An agent that transfers runs the other inside its own step, and goes on
 * behind it: when the other has paused in the middle of a step, and with Gemini always, since its last chunk makes ADK
 * believe that the step is not over.
 */
export interface HandOvers {
  readonly note: (from: InvocationContext, to: string) => void
  /** Whether an agent has handed over: its model has nothing more to say. */
  readonly has: (context: InvocationContext) => boolean
  /** Ends an agent after its step, and those who have handed over to it. */
  readonly end: (context: InvocationContext) => void
}

export function createHandOvers(): HandOvers {
  const from = new Map<string, InvocationContext>()
  const done = new WeakSet<InvocationContext>()
  const key = ({ branch }: InvocationContext, name: string | undefined): string =>
    JSON.stringify([branch, name])
  return {
    note: (context, to) => {
      from.set(key(context, to), context)
      done.add(context)
    },
    has: (context) => done.has(context),
    end: (context) => {
      const ended = new Set<InvocationContext>()
      let current: InvocationContext | undefined = context
      // Two agents can hand over to each other.
      while (current && !ended.has(current)) {
        current.endInvocation = true
        ended.add(current)
        current = from.get(key(current, current.agent?.name))
      }
    },
  }
}
