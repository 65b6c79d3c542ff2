import type { Event } from '@google/adk'
import type { Answer, Interrupted } from '../agents/index.js'
import type { Question } from './ask/questions.js'

/** What a run that stopped to ask leaves behind. JSON, saved with the thread. */
export interface AdkFrame {
  readonly questions: readonly Question[]
  /** The answers so far: the agent goes on when all are there. */
  readonly answers: Readonly<Record<string, Answer>>
  /** The events of the turn, for a session that does not have them: one in memory, after a restart. */
  readonly events: readonly Event[]
  /** How often each loop of the tree had gone round. */
  readonly iterations: Readonly<Record<string, number>>
}

/** The frame with the answers of this run. */
export function answered(frame: AdkFrame, answers: ReadonlyMap<string, Answer>): AdkFrame {
  const fresh = frame.questions.flatMap(({ interrupt: { id } }) => {
    const answer = answers.get(id)
    return answer ? [[id, answer] as const] : []
  })
  return { ...frame, answers: { ...frame.answers, ...Object.fromEntries(fresh) } }
}

/** The questions that nobody has answered yet. A model that saw only some of its answers would be confused. */
export function unanswered({ questions, answers }: AdkFrame): readonly Question[] {
  return questions.filter(({ interrupt }) => !(interrupt.id in answers))
}

/** Stops the run to ask, at this address. */
export function asking(address: string, frame: AdkFrame): Interrupted {
  const points = unanswered(frame).map(({ interrupt }) => ({ interrupt, address }))
  return { type: 'interrupted', points, frames: { [address]: frame } }
}
