import { isAbortError } from '../../core/abort.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { merge, type MergedLane } from '../../core/merge.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext, Frames, OpenInterrupt } from '../contract.js'
import { addressBelow } from '../run/address.js'
import { failureNote } from '../history/message-origin.js'
import { isStepDone, workflowAgent, type WorkflowOptions } from './workflow.js'

export interface ParallelOptions extends WorkflowOptions {
  /**
   * `abort` (default): an agent that fails stops the others and fails the workflow. `settle`: the others continue, and
   * agents that come after get a note. The workflow fails when all have failed.
   */
  readonly onError?: 'abort' | 'settle'
}

/** The lanes that have ended. */
interface ParallelFrame {
  readonly ended: Readonly<Record<string, ParallelLaneEnd>>
}

type ParallelLaneEnd = { readonly type: 'done' } | { readonly type: 'failed'; readonly message: string }
type EndedLane = { readonly type: 'ended'; readonly control: Control }
type Failed = { readonly type: 'failed'; readonly lane: number; readonly error: unknown }

/**
 * Runs agents in parallel. They do not see each other's messages; agents that come after see all, in the order of the
 * lanes. An agent that exits, or breaks the loop around them, stops the others.
 *
 * @example
 * const views = parallel({ name: 'views', agents: [optimist, pessimist], onError: 'settle' })
 */
export function parallel(options: ParallelOptions): Agent {
  return workflowAgent('parallel', options, (agents, ctx) => {
    const { name, onError = 'abort' } = options
    return runLanes({ name, agents, onError }, ctx)
  })
}

interface Lanes {
  readonly name: string
  readonly agents: readonly Agent[]
  readonly onError: 'abort' | 'settle'
}

async function* runLanes(lanes: Lanes, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as ParallelFrame | undefined
  const ended: EndedLanes = { ...frame?.ended }
  ctx.resume.keepFrame((): ParallelFrame => ({ ended }))
  const waiting: Control[] = []
  const spans = new OpenSpans()
  let failure: { readonly error: unknown } | undefined
  let end: Control | undefined
  try {
    for await (const { value } of mergeAgents(lanes, ctx, ended)) {
      if (value.type === 'failed') {
        ended[value.lane] = { type: 'failed', message: toWireError(value.error).message }
        yield* failureNote(
          value.error,
          { runId: ctx.resume.originRunId, address: addressOf(lanes, ctx, value.lane) },
          ctx.services,
        )
      } else if (value.type !== 'ended') {
        spans.add(value)
        yield value
      } else if (value.control.type === 'exit' || value.control.type === 'break') {
        end = value.control
        break
      } else waiting.push(value.control)
    }
  } catch (error) {
    if (isAbortError(error, ctx.signal)) throw error
    failure = { error }
  }
  yield* spans.close('Stopped, because of another agent beside it.')
  if (failure) throw failure.error
  return end ?? combineWaiting(waiting) ?? resultOfLanes(lanes, ended)
}

type EndedLanes = Record<string, ParallelLaneEnd>

function mergeAgents(lanes: Lanes, ctx: RunContext, ended: EndedLanes) {
  const { clock, graceMs } = ctx.services
  const { signal } = ctx
  const open = lanes.agents.flatMap((_, lane) =>
    ended[lane] ? [] : [agentLane(lanes, { lane, ctx, ended })],
  )
  const onStrayError = (error: unknown): void => ctx.services.report('a lane failed as well', error)
  return merge(open, { signal, clock, graceMs, onStrayError })
}

interface LaneOptions {
  readonly lane: number
  readonly ctx: RunContext
  readonly ended: EndedLanes
}

function agentLane(
  { name, agents, onError }: Lanes,
  { lane, ctx, ended }: LaneOptions,
): MergedLane<AgentEvent | EndedLane | Failed, undefined> {
  return async function* run(signal) {
    const agent = agents[lane]
    if (!agent) return undefined
    let control: Control
    try {
      control = yield* ctx.delegate(agent, { segment: String(lane), isLane: true, signal })
    } catch (error) {
      if (onError === 'abort' || signal.aborted) throw error
      yield { type: 'failed', lane, error }
      return undefined
    }
    // Note it at once: a stopped run may never read the events of a lane.
    if (isStepDone(control, { step: agent.name, workflow: name })) ended[lane] = { type: 'done' }
    else yield { type: 'ended', control }
    return undefined
  }
}

function nameOf({ agents }: Lanes, lane: number): string {
  return agents[lane]?.name ?? ''
}

function addressOf(lanes: Lanes, { span }: RunContext, lane: number): string {
  return addressBelow(span.address, {
    segment: String(lane),
    name: nameOf(lanes, lane),
    isCall: false,
    isLane: true,
  })
}

/** The interrupts and pending calls of all waiting lanes. Undefined when all have ended. */
function combineWaiting(waiting: readonly Control[]): Control | undefined {
  if (waiting.length === 0) return undefined
  if (waiting.some(({ type }) => type === 'cancelled')) return { type: 'cancelled' }
  const openInterrupts: OpenInterrupt[] = []
  let frames: Frames = {}
  const pendingToolCallIds: string[] = []
  for (const control of waiting) {
    if (control.type === 'interrupted') {
      openInterrupts.push(...control.openInterrupts)
      frames = { ...frames, ...control.frames }
    } else if (control.type === 'done') pendingToolCallIds.push(...(control.pendingToolCallIds ?? []))
  }
  return openInterrupts.length > 0
    ? { type: 'interrupted', openInterrupts, frames }
    : { type: 'done', pendingToolCallIds }
}

function resultOfLanes({ name }: Lanes, ended: ParallelFrame['ended']): Control {
  const ends = Object.values(ended)
  const failures = ends.flatMap((end) => (end.type === 'failed' ? [end.message] : []))
  if (failures.length < ends.length) return { type: 'done' }
  const what = `All agents of '${name}' failed.`
  throw new MillraceError('AGENT_ERROR', `${what} ${failures.join(' ')}`, { logMessage: what })
}

/** The subagent spans of the lanes that are open. Those of stopped lanes are closed before the workflow continues. */
class OpenSpans {
  readonly #open = new Set<string>()

  add(event: AgentEvent): void {
    if (event.type === 'SUBAGENT_STARTED') this.#open.add(event.subagentRunId)
    if (event.type === 'SUBAGENT_FINISHED' || event.type === 'SUBAGENT_ERROR')
      this.#open.delete(event.subagentRunId)
  }

  /** Ends all open spans, innermost first. */
  close(message: string): AgentEvent[] {
    return Array.from(this.#open, (subagentRunId): AgentEvent => ({
      type: 'SUBAGENT_ERROR',
      subagentRunId,
      message,
    })).reverse()
  }
}
