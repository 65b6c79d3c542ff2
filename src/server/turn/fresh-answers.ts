import type { ResumeEntry } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'
import { MillraceError } from '../../core/errors.js'
import type { Thread } from '../../threads/thread.js'

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
  const answered = answeredIn(thread?.checkpoint)
  const stray = resume.find(
    ({ interruptId }) => !open.includes(interruptId) && !answered.includes(interruptId),
  )
  if (!stray) return resume.filter(({ interruptId }) => open.includes(interruptId))
  const list = open.length > 0 ? `Open are: ${open.join(', ')}.` : 'None is open.'
  return new MillraceError('INVALID_RESUME', `There is no open question '${stray.interruptId}'. ${list}`, {
    details: { interruptId: stray.interruptId, open },
  })
}

function answeredIn(checkpoint: unknown): readonly unknown[] {
  return isRecord(checkpoint) && Array.isArray(checkpoint.answered) ? checkpoint.answered : []
}
