import type { Context, InvocationContext } from '@google/adk'

/** A tool's response that ADK has dropped. */
export interface DroppedResult {
  readonly id: string
  readonly name: string
  readonly response: Record<string, unknown>
}

/**
 * Keeps the results of tools until the next request of their agent: ADK drops them when a call beside them asks for
 * confirmation. Changes by an `afterToolCallback` of the agent are not in them.
 */
export class DroppedResults {
  readonly #steps = new Map<InvocationContext, Map<string, DroppedResult>>()
  readonly #errors = new WeakMap<Context, string>()

  record(
    { name, isLongRunning }: { readonly name: string; readonly isLongRunning: boolean },
    context: Context,
    result: unknown,
  ): void {
    const { functionCallId: id, actions, invocationContext } = context
    if (id === undefined || id in actions.requestedToolConfirmations) return
    const error = this.#errors.get(context)
    if (isLongRunning && (result === null || result === undefined) && error === undefined) return
    const step = this.#steps.get(invocationContext) ?? new Map<string, DroppedResult>()
    this.#steps.set(invocationContext, step)
    step.set(id, { id, name, response: error === undefined ? wrapResult(result) : { error } })
  }

  recordError(context: Context, { message }: Error): void {
    this.#errors.set(context, message)
  }

  clear(context: InvocationContext): void {
    this.#steps.delete(context)
  }

  /** Returns the results of these calls, once. */
  take(callIds: readonly string[]): DroppedResult[] {
    return callIds.flatMap((id) => {
      for (const step of this.#steps.values()) {
        const result = step.get(id)
        if (result && step.delete(id)) return [result]
      }
      return []
    })
  }
}

/** As ADK wraps results that are no objects. */
function wrapResult(result: unknown): Record<string, unknown> {
  if (Array.isArray(result)) return { results: result }
  if (typeof result === 'object' && result !== null) return result as Record<string, unknown>
  return { result: result ?? null }
}
