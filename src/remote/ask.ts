import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import type { InterruptFrame } from '../agents/index.js'

/** A question, and what the agent calls it. */
interface Question {
  readonly interrupt: Interrupt
  readonly remoteId: string
}

/** What a run that stopped to ask leaves behind. JSON, saved with the thread. */
export interface RemoteFrame extends InterruptFrame {
  readonly interrupts: readonly Question[]
  /** The thread of the agent that waits for the answers. */
  readonly threadId: string
}

/** The ids that questions, spans and calls of the agent have here. */
export interface IdsHere {
  readonly questionId: (remoteId: string) => string
  /** Of a span of the agent, or of the one it runs in. */
  readonly spanId: (remoteId: string | undefined) => string | undefined
  readonly callId: (remoteId: string) => string
}

/** The agent's question as it is asked here. */
export function toQuestion(asked: Interrupt, { questionId, spanId, callId }: IdsHere): Question {
  const { id: remoteId, subagentRunId: span, toolCallId: call, ...rest } = asked
  const subagentRunId = spanId(span)
  const interrupt = {
    ...rest,
    id: questionId(remoteId),
    ...(subagentRunId === undefined ? {} : { subagentRunId }),
    ...(call === undefined ? {} : { toolCallId: callId(call) }),
  }
  return { interrupt, remoteId }
}

/** The answers, under the ids that the agent knows. */
export function resumeOf({ interrupts, answers }: RemoteFrame): ResumeEntry[] {
  return interrupts.flatMap(({ interrupt: { id }, remoteId: interruptId }) => {
    const answer = answers[id]
    if (!answer) return []
    const { status } = answer
    const isGiven = status === 'resolved' && (answer.payload ?? null) !== null
    return [{ interruptId, status, ...(isGiven ? { payload: answer.payload } : {}) }]
  })
}
