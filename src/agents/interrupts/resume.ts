import type { Interrupt, Message, ResumeEntry } from '@ag-ui/core'
import { MillraceError, toWireError } from '../../core/errors.js'
import type { Agent, Answer, InterruptRequest, OpenInterrupt, Suspension } from '../contract.js'
import { assertSameAgents, type Checkpoint } from './checkpoint.js'
import { compileSchema } from '../json-schema/compile-schema.js'
import { joinIssues, type SchemaIssue } from '../json-schema/issues.js'
import { checkAgainst } from '../tools/schema.js'

/** What a run resumes with: answers, and the frames that were saved. Empty for a new run. */
export interface Resumption {
  /** The run that was interrupted first. */
  readonly originRunId: string
  readonly answers: ReadonlyMap<string, Answer>
  readonly openInterrupts: readonly OpenInterrupt[]
  /** Removed as they are taken, so that nothing is resumed twice. */
  readonly frames: Map<string, unknown>
}

/** What a run does, given its checkpoint and the answers. */
export type ResumePlan =
  | { readonly type: 'start' | 'continue'; readonly resumption: Resumption }
  /** Interrupts are open and none was answered: the run raises them again and runs nothing. */
  | { readonly type: 'interrupt-again'; readonly checkpoint: Checkpoint }
  /** Everything was answered before: nothing is left to do. */
  | { readonly type: 'nothing' }

export interface ResumeOptions {
  readonly agent: Agent
  readonly runId: string
  readonly checkpoint: Checkpoint | undefined
  /** The messages of the request, if it has any. */
  readonly messages: readonly Message[] | undefined
  readonly resume: readonly ResumeEntry[]
  readonly onProblem: (problem: string) => void
}

// Shared by all runs that start afresh: frames are only ever removed.
const afresh: Omit<Resumption, 'originRunId'> = { answers: new Map(), openInterrupts: [], frames: new Map() }

/** Throws INVALID_RESUME when no answer is to an open interrupt, INVALID_CHECKPOINT when the agents have changed. */
export function planResume(options: ResumeOptions): ResumePlan {
  const { agent, runId, checkpoint, messages, resume, onProblem } = options
  const open = checkpoint?.openInterrupts ?? []
  const openIds = open.map(({ interrupt }) => interrupt.id)
  const sorted = sortAnswers(resume, { open: openIds, answered: checkpoint?.answered ?? [] })
  for (const id of sorted.repeated) onProblem(`interrupt '${id}' was answered before; the answer is ignored`)
  if (sorted.error) throw sorted.error
  for (const id of sorted.unknown) onProblem(`there is no interrupt '${id}'; the answer is ignored`)
  const continued = (answers: ReadonlyMap<string, Answer>, { runId, frames }: Checkpoint): ResumePlan => ({
    type: 'continue',
    resumption: {
      originRunId: runId,
      answers,
      openInterrupts: open,
      frames: new Map(Object.entries(frames)),
    },
  })
  if (!checkpoint || (open.length === 0 && resume.length === 0)) {
    if (checkpoint && isContinuedBy(messages, checkpoint) && hasSameAgents(options, checkpoint))
      return continued(new Map(), checkpoint)
    const { answers, openInterrupts, frames } = afresh
    return { type: 'start', resumption: { originRunId: runId, answers, openInterrupts, frames } }
  }
  if (open.length === 0) {
    // The run failed after it had its answers: giving them again resumes it.
    if (!isUnfinished(checkpoint) || !hasSameAgents(options, checkpoint)) return { type: 'nothing' }
    return continued(new Map(), checkpoint)
  }
  if (sorted.fresh.length === 0) return { type: 'interrupt-again', checkpoint }
  assertSameAgents(checkpoint, agent)
  return continued(checkAnswers(sorted.fresh, { open, onProblem }), checkpoint)
}

function isUnfinished({ frames, pendingToolCallIds }: Checkpoint): boolean {
  return Object.keys(frames).length > 0 && pendingToolCallIds === undefined
}

/**
 * Whether a run that waited for the client, or was stopped, continues: all pending results are there and no user
 * message came since. A user message begins something new.
 */
function isContinuedBy(
  messages: readonly Message[] | undefined,
  { frames, pendingToolCallIds }: Checkpoint,
): boolean {
  if (Object.keys(frames).length === 0) return false
  if (pendingToolCallIds === undefined || messages === undefined) return messages === undefined
  const pending = new Set(pendingToolCallIds)
  const calledAt = messages.findIndex(
    (message) =>
      message.role === 'assistant' && message.toolCalls?.some(({ id }) => pending.has(id)) === true,
  )
  for (const message of messages.slice(calledAt + 1)) {
    if (message.role === 'tool') pending.delete(message.toolCallId)
    else if (message.role === 'user') return false
  }
  return calledAt !== -1 && pending.size === 0
}

function hasSameAgents({ agent, onProblem }: ResumeOptions, checkpoint: Checkpoint): boolean {
  try {
    assertSameAgents(checkpoint, agent)
    return true
  } catch (error) {
    onProblem(`${toWireError(error).message} The run starts afresh.`)
    return false
  }
}

/** The key of the frame that an interrupt scope itself saves: its answers so far, for example. */
export function scopeFrameKey(address: string): string {
  return `${address}?`
}

/** The open interrupts at an address and below it. Undefined when there are none, or when one is answered now. */
export function openInterruptsAt(
  { openInterrupts, frames, answers }: Resumption,
  address: string,
): Suspension | undefined {
  const isBelow = (other: string): boolean =>
    other === address || other === scopeFrameKey(address) || other.startsWith(`${address}/`)
  const below = openInterrupts.filter((open) => isBelow(open.address))
  if (below.length === 0 || below.some(({ interrupt }) => answers.has(interrupt.id))) return undefined
  return { openInterrupts: below, frames: Object.fromEntries([...frames].filter(([key]) => isBelow(key))) }
}

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
  /** Ids of no interrupt of the thread. */
  readonly unknown: readonly string[]
  /** INVALID_RESUME when some are unknown and none answers an open interrupt. */
  readonly error?: MillraceError
}

/** Sorts the answers of a request into new, repeated and unknown ones. Only this decides which answers a thread accepts. */
export function sortAnswers(
  resume: readonly ResumeEntry[],
  { open, answered }: KnownInterrupts,
): SortedAnswers {
  const fresh = resume.filter(({ interruptId }) => open.includes(interruptId))
  const ids = resume.map(({ interruptId }) => interruptId).filter((id) => !open.includes(id))
  const repeated = ids.filter((id) => answered.includes(id))
  const unknown = ids.filter((id) => !answered.includes(id))
  const [interruptId] = unknown
  if (interruptId === undefined || fresh.length > 0) return { fresh, repeated, unknown }
  const list = open.length > 0 ? `Open are: ${open.join(', ')}.` : 'None is open.'
  const message = `There is no open interrupt '${interruptId}'. ${list}`
  const error = new MillraceError('INVALID_RESUME', message, { details: { interruptId, open } })
  return { fresh, repeated, unknown, error }
}

interface AnswerRules {
  readonly open: readonly { readonly interrupt: Interrupt }[]
  readonly onProblem: (problem: string) => void
}

/**
 * Checks answers against the JSON Schemas that clients were sent. Throws INVALID_RESUME for one that does not fit. A schema
 * may come from another runtime or server, so what cannot be used of it is left out: nobody could answer otherwise.
 */
function checkAnswers(resume: readonly ResumeEntry[], { open, onProblem }: AnswerRules): Map<string, Answer> {
  const answers = new Map<string, Answer>()
  for (const { interruptId, status, payload } of resume) {
    if (status === 'cancelled') {
      answers.set(interruptId, { status })
      continue
    }
    const schema = open.find(({ interrupt }) => interrupt.id === interruptId)?.interrupt.responseSchema
    const onUnusable = (problem: string): void =>
      onProblem(`part of the responseSchema of '${interruptId}' is not checked: ${problem}`)
    // JSON has no undefined: an answer without a payload is null.
    const issues = schema ? compileSchema(schema, { onUnusable })(payload ?? null) : []
    if (issues.length > 0) throw misfit(`The answer to '${interruptId}' does not fit`, issues, interruptId)
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
  const details = interruptId === undefined ? {} : { interruptId, issues }
  // Libraries quote the value.
  return new MillraceError('INVALID_RESUME', `${what}: ${joinIssues(issues)}`, {
    details,
    logMessage: `${what}.`,
  })
}
