import type { Message } from '@ag-ui/core'
import type { IdSource } from '../../core/ids.js'

/**
 * Keeps tool calls apart in a thread: results name them by their id, whoever made the call. Gives the wanted id when it
 * is free, else a new one.
 */
export function createCallIds(history: readonly Message[], newId: IdSource): (wanted: string) => string {
  // Built when first asked for: many runs call no tool.
  let used: Set<string> | undefined
  return (wanted) => {
    used ??= new Set(history.flatMap((one) => (one.role === 'assistant' ? idsIn(one.toolCalls) : [])))
    const id = wanted === '' || used.has(wanted) ? newId('call') : wanted
    used.add(id)
    return id
  }
}

function idsIn(calls: readonly { readonly id: string }[] = []): string[] {
  return calls.map(({ id }) => id)
}
