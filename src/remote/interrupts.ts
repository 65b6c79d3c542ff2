import type { Interrupt, ResumeEntry } from '@ag-ui/core'
import type { InterruptFrame } from '../agents/index.js'
import type { RemoteIds } from './remote-ids.js'

interface RemoteInterrupt {
  readonly interrupt: Interrupt
  /** The agent's own id of the interrupt. */
  readonly remoteId: string
}

/** The frame of an interrupted run. */
export interface RemoteFrame extends InterruptFrame {
  readonly interrupts: readonly RemoteInterrupt[]
  /** The agent's thread that waits for the answers. */
  readonly threadId: string
}

/** Converts an interrupt of the agent into one of this run. */
export function toLocalInterrupt(remote: Interrupt, ids: RemoteIds): RemoteInterrupt {
  const { id: remoteId, subagentRunId: span, toolCallId: call, ...rest } = remote
  const subagentRunId = ids.spanId(span)
  const interrupt = {
    ...rest,
    id: ids.interruptId(remoteId),
    ...(subagentRunId === undefined ? {} : { subagentRunId }),
    ...(call === undefined ? {} : { toolCallId: ids.callId(call) }),
  }
  return { interrupt, remoteId }
}

/** The answers under the ids that the agent knows. */
export function toResume({ interrupts, answers }: RemoteFrame): ResumeEntry[] {
  return interrupts.flatMap(({ interrupt: { id }, remoteId: interruptId }) => {
    const answer = answers[id]
    if (!answer) return []
    const { status } = answer
    const hasPayload = status === 'resolved' && (answer.payload ?? null) !== null
    return [{ interruptId, status, ...(hasPayload ? { payload: answer.payload } : {}) }]
  })
}
