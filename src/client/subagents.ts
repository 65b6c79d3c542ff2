import type { EventOf } from '../protocol/index.js'
import type { Subagent } from './contract.js'

/** The subagents of a run after one of their events. */
export function nextSubagents(
  subagents: readonly Subagent[],
  event: EventOf<'SUBAGENT_STARTED' | 'SUBAGENT_FINISHED' | 'SUBAGENT_ERROR'>,
): readonly Subagent[] {
  const id = event.subagentRunId
  if (event.type === 'SUBAGENT_STARTED') {
    const parent = event.parentSubagentRunId === undefined ? {} : { parentId: event.parentSubagentRunId }
    const others = subagents.filter((one) => one.id !== id)
    return [...others, { id, name: event.name, ...parent, status: 'running' }]
  }
  const isSuspended = event.type === 'SUBAGENT_FINISHED' && event.outcome?.type === 'suspended'
  const status = event.type === 'SUBAGENT_ERROR' ? 'failed' : isSuspended ? 'suspended' : 'finished'
  return subagents.map((one) => (one.id === id ? { ...one, status } : one))
}
