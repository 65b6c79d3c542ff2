import { interruptedBy, type Answer, type Control, type RunContext } from '../agents/index.js'
import type { Question } from './ask/questions.js'
import { isClientCall } from './open-questions.js'

export interface Waiting {
  readonly questions: readonly Question[]
  readonly answers?: Readonly<Record<string, Answer>>
  /** Calls of the client's tools. */
  readonly pending?: readonly string[]
}

/** A run that waits: for people, for the client, or for nobody. */
export function stopped(ctx: RunContext, { questions, answers = {}, pending = [] }: Waiting): Control {
  const people = questions.filter((question) => !isClientCall(question))
  if (people.length > 0) return interruptedBy(ctx.span.address, { interrupts: people, answers })
  const calls = questions.flatMap((question) =>
    question.kind === 'value' && question.clientCallId !== undefined ? [question.clientCallId] : [],
  )
  const pendingToolCallIds = [...new Set([...pending, ...calls])]
  return { type: 'done', ...(pendingToolCallIds.length === 0 ? {} : { pendingToolCallIds }) }
}
