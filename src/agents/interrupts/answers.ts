import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import type { Answer, InterruptRequest } from '../contract.js'
import { checkAgainst, type SchemaIssue } from '../tools/schema.js'

/** The interrupts of a thread, by id. */
export interface KnownInterrupts {
  readonly open: readonly string[]
  /** Answered in earlier runs. */
  readonly answered: readonly string[]
}

export interface SortedAnswers {
  /** Answers to open interrupts. */
  readonly fresh: readonly ResumeEntry[]
  /** Ids of interrupts that were answered before. Answering one again does nothing. */
  readonly repeated: readonly string[]
  /** INVALID_RESUME when an answer belongs to no interrupt of the thread. */
  readonly error?: MillraceError
}

/** Sorts the answers of a request into new and repeated ones. Only this decides which answers a thread accepts. */
export function sortAnswers(
  resume: readonly ResumeEntry[],
  { open, answered }: KnownInterrupts,
): SortedAnswers {
  const fresh = resume.filter(({ interruptId }) => open.includes(interruptId))
  const ids = resume.map(({ interruptId }) => interruptId).filter((id) => !open.includes(id))
  const unknown = ids.find((id) => !answered.includes(id))
  const repeated = ids.filter((id) => answered.includes(id))
  if (unknown === undefined) return { fresh, repeated }
  const list = open.length > 0 ? `Open are: ${open.join(', ')}.` : 'None is open.'
  const message = `There is no open interrupt '${unknown}'. ${list}`
  const error = new MillraceError('INVALID_RESUME', message, { details: { interruptId: unknown, open } })
  return { fresh, repeated, error }
}

/** Checks answers against the JSON Schemas that clients were sent. Throws INVALID_RESUME for one that does not fit. */
export async function checkAnswers(
  resume: readonly ResumeEntry[],
  open: readonly { readonly interrupt: Interrupt }[],
): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (const { interruptId, status, payload } of resume) {
    if (status === 'cancelled') {
      answers.set(interruptId, { status })
      continue
    }
    const schema = open.find(({ interrupt }) => interrupt.id === interruptId)?.interrupt.responseSchema
    const checked = schema ? await checkAgainst(schema, payload) : undefined
    if (checked?.ok === false)
      throw misfit(`The answer to '${interruptId}' does not fit`, checked.issues, interruptId)
    answers.set(interruptId, { status, payload: payload as unknown })
  }
  return answers
}

/**
 * Parses an answer with the schema of the code that raised the interrupt. That schema may be stricter than the JSON
 * Schema that clients were sent, may transform the value, and may have changed since.
 */
export async function parseAnswer<Payload>(
  answer: Answer,
  { responseSchema }: InterruptRequest<Payload>,
): Promise<Answer<Payload>> {
  if (answer.status === 'cancelled') return answer
  // Without a schema, trust the caller's type.
  if (!responseSchema) return answer as Answer<Payload>
  const checked = await checkAgainst(responseSchema, answer.payload)
  if (checked.ok) return { status: 'resolved', payload: checked.value }
  throw misfit('An answer does not fit its interrupt', checked.issues)
}

function misfit(what: string, issues: readonly SchemaIssue[], interruptId?: string): MillraceError {
  const list = issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
  const details = interruptId === undefined ? {} : { interruptId, issues }
  return new MillraceError('INVALID_RESUME', `${what}: ${list}`, { details })
}
