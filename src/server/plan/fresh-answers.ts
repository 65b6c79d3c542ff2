import type { ResumeEntry } from '@ag-ui/core'
import { sortAnswers } from '../../agents/index.js'
import { isRecord } from '../../core/is-record.js'
import type { MillraceError } from '../../core/errors.js'
import type { Thread } from '../../threads/contract.js'

/**
 * The answers to questions that are open. One that was answered before is left out: answering again does nothing.
 * INVALID_RESUME for one that this thread never asked.
 */
export function freshAnswers(
  thread: Thread | undefined,
  resume: readonly ResumeEntry[],
): ResumeEntry[] | MillraceError {
  if (resume.length === 0) return []
  const open = thread?.interrupts.map(({ id }) => id) ?? []
  const { fresh, error } = sortAnswers(resume, { open, answered: answeredIn(thread?.checkpoint) })
  return error ?? [...fresh]
}

/**
 * The answers in `forwardedProps.command.resume`, where clients put them before AG-UI had a place for them: an object by
 * the ids of open questions, a list of `decisions` with one for each of them in their order, or any one value, `false` too,
 * when one question is open. None where it is not clear whose answer it is.
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

function answeredIn(checkpoint: unknown): readonly string[] {
  return isRecord(checkpoint) && Array.isArray(checkpoint.answered) ? (checkpoint.answered as string[]) : []
}
