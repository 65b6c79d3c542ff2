import { MillraceError } from '../../core/errors.js'
import { createRunStream, type AgentEvent, type AgUiEvent, type RunInput } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks/hooks.js'
import type { TurnPlan } from '../plan/plan-run.js'
import { createOutgoing } from '../hooks/output-hooks.js'

/** A turn in which no agent has a part. */
export interface OverTurn {
  readonly type: 'over'
  readonly runId: string
  readonly events: readonly AgUiEvent[]
}

/** The hooks see every event that goes out, also here. */
export async function overTurn(
  server: ServerContext,
  info: RunInfo,
  events: readonly AgUiEvent[],
): Promise<OverTurn> {
  const { runId } = info
  const outgoing = createOutgoing(server, info)
  if (!outgoing) return { type: 'over', runId, events }
  const all: AgUiEvent[] = []
  for (const event of events) all.push(await outgoing(event))
  return { type: 'over', runId, events: all }
}

/** What a client is told when there is nothing to run. */
export function eventsOf(
  { threadId, runId }: RunInput,
  plan: Exclude<TurnPlan, { type: 'run' }>,
  opening: readonly AgentEvent[],
): readonly AgUiEvent[] {
  const events: AgUiEvent[] = []
  const stream = createRunStream({ threadId, runId, emit: (event) => events.push(event) })
  events.push(...opening)
  if (plan.type === 'refuse') stream.fail(plan.error)
  else stream.finish({ type: 'success' })
  return events
}

/** The events of a run that was cancelled before it began. Throws why, where it was something else that has stopped it. */
export function cancelledEarly({ threadId, runId }: RunInput, { reason }: AbortSignal): readonly AgUiEvent[] {
  if (MillraceError.isInstance(reason)) throw reason
  const events: AgUiEvent[] = []
  createRunStream({ threadId, runId, emit: (event) => events.push(event) }).finish({ type: 'cancelled' })
  return events
}
