import type { ResumeEntry } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import type { Agent } from './agent.js'
import { assertSameAgents, type Checkpoint } from './checkpoint.js'
import type { Answer } from './interrupt.js'
import type { Resumption } from './resumption.js'
import { checkAgainst } from './schema.js'

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
  readonly resume: readonly ResumeEntry[]
  readonly onProblem: (problem: string) => void
}

/** Nothing to go on from. Shared by all runs that start afresh: frames are only ever taken out. */
const afresh: Omit<Resumption, 'originRunId'> = {
  answers: new Map(),
  points: [],
  frames: new Map(),
  messages: [],
}

/** Throws INVALID_RESUME for answers that fit no open question, INVALID_CHECKPOINT when the agents have changed. */
export async function planResume({
  agent,
  runId,
  checkpoint,
  resume,
  onProblem,
}: ResumeOptions): Promise<ResumePlan> {
  const fresh = resume.filter(({ interruptId }) => {
    const isRepeated = checkpoint?.answered.includes(interruptId) === true
    if (isRepeated) onProblem(`question '${interruptId}' was answered before; the answer is ignored`)
    return !isRepeated
  })
  assertKnown(fresh, checkpoint)
  if (!checkpoint || (checkpoint.points.length === 0 && resume.length === 0)) {
    const { answers, points, frames, messages } = afresh
    return { type: 'start', resumption: { originRunId: runId, answers, points, frames, messages } }
  }
  if (checkpoint.points.length === 0) return { type: 'nothing' }
  if (fresh.length === 0) return { type: 'ask-again', checkpoint }
  assertSameAgents(checkpoint, agent)
  return {
    type: 'continue',
    resumption: {
      originRunId: checkpoint.runId,
      answers: await checkedAnswers(fresh, checkpoint),
      points: checkpoint.points,
      frames: new Map(Object.entries(checkpoint.frames)),
      messages: checkpoint.messages,
    },
  }
}

function assertKnown(entries: readonly ResumeEntry[], checkpoint: Checkpoint | undefined): void {
  const open = checkpoint?.points.map(({ interrupt }) => interrupt.id) ?? []
  const unknown = entries.find(({ interruptId }) => !open.includes(interruptId))
  if (!unknown) return
  const list = open.length > 0 ? `Open are: ${open.join(', ')}.` : 'None is open.'
  throw new MillraceError('INVALID_RESUME', `There is no open question '${unknown.interruptId}'. ${list}`, {
    details: { interruptId: unknown.interruptId, open },
  })
}

async function checkedAnswers(
  entries: readonly ResumeEntry[],
  { points }: Checkpoint,
): Promise<Map<string, Answer>> {
  const answers = new Map<string, Answer>()
  for (const { interruptId, status, payload } of entries) {
    if (status === 'cancelled') {
      answers.set(interruptId, { status })
      continue
    }
    const schema = points.find(({ interrupt }) => interrupt.id === interruptId)?.interrupt.responseSchema
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
