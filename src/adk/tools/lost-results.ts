import type { Context, InvocationContext } from '@google/adk'

/** A response of a tool that ADK made and threw away. */
export interface LostResult {
  readonly id: string
  readonly name: string
  readonly response: Record<string, unknown>
}

/** Keeps what tools returned until the next request of their agent: ADK drops it when a call beside them asks. */
export interface LostResults {
  readonly note: (tool: { readonly name: string; readonly isLongRunning: boolean }, ran: Ran) => void
  readonly noteError: (context: Context, error: Error) => void
  readonly clear: (context: InvocationContext) => void
  /** The results of these calls, once. */
  readonly take: (callIds: readonly string[]) => LostResult[]
}

interface Ran {
  readonly context: Context
  readonly result: unknown
}

export function createLostResults(): LostResults {
  const steps = new Map<InvocationContext, Map<string, LostResult>>()
  const errors = new WeakMap<Context, string>()
  return {
    note: ({ name, isLongRunning }, { context, result }) => {
      const { functionCallId: id, actions, invocationContext } = context
      if (id === undefined || id in actions.requestedToolConfirmations) return
      const error = errors.get(context)
      if (isLongRunning && (result === null || result === undefined) && error === undefined) return
      const step = steps.get(invocationContext) ?? new Map<string, LostResult>()
      steps.set(invocationContext, step)
      step.set(id, { id, name, response: error === undefined ? asResponse(result) : { error } })
    },
    noteError: (context, { message }) => void errors.set(context, message),
    clear: (context) => void steps.delete(context),
    take: (callIds) =>
      callIds.flatMap((id) => {
        for (const step of steps.values()) {
          const result = step.get(id)
          if (result && step.delete(id)) return [result]
        }
        return []
      }),
  }
}

/** As ADK wraps what is no object. */
function asResponse(result: unknown): Record<string, unknown> {
  if (Array.isArray(result)) return { results: result }
  if (typeof result === 'object' && result !== null) return result as Record<string, unknown>
  return { result: result ?? null }
}
