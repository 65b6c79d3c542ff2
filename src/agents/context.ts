import type { Context, Message, TokenUsage, Tool as ToolInfo } from '@ag-ui/core'
import type { Clock } from '../core/clock.js'
import { stableHash } from '../core/hash.js'
import type { IdSource } from '../core/ids.js'
import type { AgentEvent } from '../protocol/index.js'
import type { Agent, Control, DelegateOptions, RunContext, SafePoint } from './agent.js'
import { createAsker, InterruptSignal, type Asker, type Resumption } from './asker.js'
import type { Frames } from './checkpoint.js'
import type { SharedState } from './shared-state.js'

/** What all contexts of one run share. */
export interface RunScope {
  readonly threadId: string
  readonly runId: string
  readonly clientTools: readonly ToolInfo[]
  readonly context: readonly Context[]
  readonly forwardedProps: unknown
  readonly values: Map<string, unknown>
  readonly state: SharedState
  readonly resumption: Resumption
  readonly newId: IdSource
  readonly clock: Clock
  shouldStop(at: SafePoint): boolean
  addUsage(usage: TokenUsage): void
  report(problem: string): void
}

interface Place {
  readonly address: string
  readonly messages: readonly Message[]
  readonly signal: AbortSignal
  readonly subagentRunId: string | undefined
}

/** A context and what the run needs to know of it. */
export interface AgentPlace {
  readonly ctx: RunContext
  readonly asker: Asker
}

export function createPlace(scope: RunScope, place: Place): AgentPlace {
  const { address, subagentRunId } = place
  const { resumption } = scope
  const tag = subagentRunId === undefined ? {} : { subagentRunId }
  const asker = createAsker({ address, resumption, defaults: { reason: 'input_required', ...tag } })
  const ctx: RunContext = {
    threadId: scope.threadId,
    runId: scope.runId,
    address,
    signal: place.signal,
    messages: place.messages,
    clientTools: scope.clientTools,
    context: scope.context,
    forwardedProps: scope.forwardedProps,
    values: scope.values,
    get state() {
      return scope.state.current
    },
    setState: (next) => scope.state.set(next),
    interrupt: (request) => asker.interrupt(request),
    resumed: asker.resumed,
    takeFrame() {
      const frame = resumption.frames.get(address)
      resumption.frames.delete(address)
      return frame
    },
    openPoints: (at = address) => openPoints(resumption, at),
    asker: (at, defaults) => createAsker({ address: at, resumption, defaults: { ...defaults, ...tag } }),
    shouldStop: (at) => scope.shouldStop(at),
    addUsage: (usage) => scope.addUsage(usage),
    report: (problem) => scope.report(problem),
    delegate: (agent, options) => delegate({ scope, place, agent, options }),
    newId: scope.newId,
    clock: scope.clock,
  }
  return { ctx, asker }
}

/**
 * Runs an agent in its place. An interrupt it threw is turned into the control it means, and one it swallowed is
 * brought back: work after an unanswered question does not count.
 */
export async function* runInPlace(
  agent: Agent,
  { ctx, asker }: AgentPlace,
): AsyncGenerator<AgentEvent, Control> {
  try {
    const control = yield* agent.run(ctx)
    return asker.open ? interruptedBy(asker.open) : control
  } catch (error) {
    if (error instanceof InterruptSignal) return interruptedBy(error)
    throw error
  }
}

function interruptedBy({ points, frames }: InterruptSignal): Control {
  return { type: 'interrupted', points, frames }
}

interface Delegation {
  readonly scope: RunScope
  readonly place: Place
  readonly agent: Agent
  readonly options: DelegateOptions
}

async function* delegate({ scope, place, agent, options }: Delegation): AsyncGenerator<AgentEvent, Control> {
  const { segment, messages, toolCallId, signal = place.signal } = options
  const address = `${place.address}/${encodeURIComponent(segment)}/${encodeURIComponent(agent.name)}`
  // The same in the run that resumes this one, so that a client can tell that it goes on.
  const subagentRunId = `sub-${stableHash(`${scope.resumption.originRunId}\n${address}`)}`
  yield {
    type: 'SUBAGENT_STARTED',
    subagentRunId,
    name: agent.name,
    description: agent.description,
    ...(place.subagentRunId === undefined ? {} : { parentSubagentRunId: place.subagentRunId }),
    ...(toolCallId === undefined ? {} : { parentToolCallId: toolCallId }),
  }
  try {
    const child = runInPlace(agent, createPlace(scope, { address, messages, signal, subagentRunId }))
    const control = yield* withTag(child, subagentRunId)
    yield {
      type: 'SUBAGENT_FINISHED',
      subagentRunId,
      ...(control.type === 'interrupted'
        ? {
            outcome: { type: 'suspended', interruptIds: control.points.map(({ interrupt }) => interrupt.id) },
          }
        : {}),
    }
    return control
  } catch (error) {
    yield { type: 'SUBAGENT_ERROR', subagentRunId, message: 'The agent failed.' }
    throw error
  }
}

/** Marks what a child writes as its own. Its children have marked theirs already. */
async function* withTag<R>(
  source: AsyncGenerator<AgentEvent, R>,
  subagentRunId: string,
): AsyncGenerator<AgentEvent, R> {
  try {
    for (;;) {
      const step = await source.next()
      if (step.done === true) return step.value
      const event = step.value
      yield 'subagentRunId' in event || event.type === 'MESSAGES_SNAPSHOT'
        ? event
        : { ...event, subagentRunId }
    }
  } finally {
    await source.return(undefined as R)
  }
}

/** The open questions at an address and below it, with what their askers saved. */
function openPoints(
  { points, frames, answers }: Resumption,
  address: string,
): ReturnType<RunContext['openPoints']> {
  const isBelow = (other: string): boolean => other === address || other.startsWith(`${address}/`)
  const below = points.filter((point) => isBelow(point.address))
  const saved: [string, unknown][] = [...frames].filter(([key]) => isBelow(key.replace(/\?$/, '')))
  return {
    points: below,
    frames: Object.fromEntries(saved) satisfies Frames,
    isAnswered: below.some(({ interrupt }) => answers.has(interrupt.id)),
  }
}
