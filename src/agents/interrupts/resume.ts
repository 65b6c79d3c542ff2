import type { Message, ResumeEntry } from '@ag-ui/core'
import { MillraceError, toWireError } from '../../core/errors.js'
import type { Agent, Answer } from '../contract.js'
import { assertSameAgents, type Checkpoint } from './checkpoint.js'
import type { Resumption } from './resumption.js'
import { checkAgainst } from '../tools/schema.js'
import { unknownInterrupt } from './answers.js'

/** What a run has to do, given what was saved and what was answered. */
export type ResumePlan =
  | { readonly type: 'start' | 'continue'; readonly resumption: Resumption }
  /** Questions are open and none was answered: they are asked again, and nothing runs. */
  | { readonly type: 'ask-again'; readonly checkpoint: Checkpoint }
  /** Everything was answered before: nothing is left to do. */
  | { readonly type: 'nothing' }

export interface ResumeOptions {
  readonly agent: Agent
  readonly runId: string
  readonly checkpoint: Checkpoint | undefined
  /** The conversation as the request has it, if it does. */
  readonly messages: readonly Message[] | undefined
  readonly resume: readonly ResumeEntry[]
  readonly onProblem: (problem: string) => void
}

/** Nothing to go on from. Shared by all runs that start afresh: frames are only ever taken out. */
const afresh: Omit<Resumption, 'originRunId'> = { answers: new Map(), openInterrupts: [], frames: new Map() }

/** Throws INVALID_RESUME for answers that fit no open question, INVALID_CHECKPOINT when the agents have changed. */
export async function planResume(options: ResumeOptions): Promise<ResumePlan> {
  const { agent, runId, checkpoint, messages, resume, onProblem } = options
  const fresh = resume.filter(({ interruptId }) => {
    const isRepeated = checkpoint?.answered.includes(interruptId) === true
    if (isRepeated) onProblem(`question '${interruptId}' was answered before; the answer is ignored`)
    return !isRepeated
  })
  assertKnown(fresh, checkpoint)
  if (!checkpoint || (checkpoint.openInterrupts.length === 0 && resume.length === 0)) {
    if (checkpoint && goesOn(checkpoint, messages) && isKnown(agent, { checkpoint, onProblem }))
      return { type: 'continue', resumption: resumptionOf(checkpoint, new Map()) }
    const { answers, openInterrupts, frames } = afresh
    return { type: 'start', resumption: { originRunId: runId, answers, openInterrupts, frames } }
  }
  if (checkpoint.openInterrupts.length === 0) {
    // A run that broke off after it had its answers: who gives them again wants it to go on.
    if (!brokeOff(checkpoint) || !isKnown(agent, { checkpoint, onProblem })) return { type: 'nothing' }
    return { type: 'continue', resumption: resumptionOf(checkpoint, new Map()) }
  }
  if (fresh.length === 0) return { type: 'ask-again', checkpoint }
  assertSameAgents(checkpoint, agent)
  return { type: 'continue', resumption: resumptionOf(checkpoint, await checkedAnswers(fresh, checkpoint)) }
}

function resumptionOf(
  { runId, openInterrupts, frames }: Checkpoint,
  answers: ReadonlyMap<string, Answer>,
): Resumption {
  return { originRunId: runId, answers, openInterrupts, frames: new Map(Object.entries(frames)) }
}

function brokeOff({ frames, pendingToolCallIds }: Checkpoint): boolean {
  return Object.keys(frames).length > 0 && pendingToolCallIds === undefined
}

/**
 * Whether a run goes on that waited for the client or was stopped: when all that it waited for is there and nobody has
 * said anything since. Who says something else wants something else.
 */
function goesOn(
  { frames, pendingToolCallIds }: Checkpoint,
  messages: readonly Message[] | undefined,
): boolean {
  if (Object.keys(frames).length === 0) return false
  if (pendingToolCallIds === undefined || messages === undefined) return messages === undefined
  const pending = new Set(pendingToolCallIds)
  const asked = messages.findIndex(
    (message) =>
      message.role === 'assistant' && message.toolCalls?.some(({ id }) => pending.has(id)) === true,
  )
  for (const message of messages.slice(asked + 1)) {
    if (message.role === 'tool') pending.delete(message.toolCallId)
    else if (message.role === 'user') return false
  }
  return asked !== -1 && pending.size === 0
}

function isKnown(
  agent: Agent,
  { checkpoint, onProblem }: Pick<ResumeOptions, 'onProblem'> & { checkpoint: Checkpoint },
): boolean {
  try {
    assertSameAgents(checkpoint, agent)
    return true
  } catch (error) {
    onProblem(`${toWireError(error).message} The run starts afresh.`)
    return false
  }
}

function assertKnown(entries: readonly ResumeEntry[], checkpoint: Checkpoint | undefined): void {
  const open = checkpoint?.openInterrupts.map(({ interrupt }) => interrupt.id) ?? []
  const unknown = entries.find(({ interruptId }) => !open.includes(interruptId))
  if (unknown) throw unknownInterrupt(unknown.interruptId, open)
}

async function checkedAnswers(
  entries: readonly ResumeEntry[],
  { openInterrupts }: Checkpoint,
): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (const { interruptId, status, payload } of entries) {
    if (status === 'cancelled') {
      answers.set(interruptId, { status })
      continue
    }
    const schema = openInterrupts.find(({ interrupt }) => interrupt.id === interruptId)?.interrupt
      .responseSchema
    const checked = schema ? await checkAgainst(schema, payload) : undefined
    if (checked?.ok === false) {
      const issues = checked.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
      throw new MillraceError('INVALID_RESUME', `The answer to '${interruptId}' does not fit: ${issues}`, {
        details: { interruptId, issues: checked.issues },
      })
    }
    answers.set(interruptId, { status, payload: payload as unknown })
  }
  return answers
}
