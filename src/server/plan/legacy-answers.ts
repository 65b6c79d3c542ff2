import type { ResumeEntry } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import type { Thread } from '../../threads/contract.js'

/**
 * The answers in `forwardedProps.command.resume`, where clients before AG-UI 1.0 put them: an object by the ids of open
 * interrupts, a list of `decisions` with one for each of them in their order, or any one value, `false` too, when one
 * interrupt is open. None where it is not clear whose answer it is.
 */
export function legacyAnswers(thread: Thread | undefined, forwardedProps: unknown): ResumeEntry[] {
  const command = isRecord(forwardedProps) ? forwardedProps.command : undefined
  const payload = isRecord(command) ? command.resume : undefined
  const open = thread?.interrupts.map(({ id }) => id) ?? []
  if (payload === undefined || payload === null || open.length === 0) return []
  const byId = isRecord(payload) ? Object.entries(payload) : []
  if (byId.length > 0 && byId.every(([id]) => open.includes(id)))
    return byId.map(([interruptId, value]) => ({ interruptId, status: 'resolved', payload: value }))
  const decisions =
    isRecord(payload) && Array.isArray(payload.decisions) ? (payload.decisions as unknown[]) : []
  if (decisions.length === open.length)
    return open.map((interruptId, index) => ({ interruptId, status: 'resolved', payload: decisions[index] }))
  const [interruptId, ...others] = open
  return interruptId === undefined || others.length > 0 ? [] : [{ interruptId, status: 'resolved', payload }]
}
