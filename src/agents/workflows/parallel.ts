import { isAbortError } from '../../core/abort.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { merge, type Lane } from '../../core/merge.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Agent, Control, RunContext, Frames, OpenInterrupt } from '../contract.js'
import { addressBelow } from '../run/address.js'
import { failureNote } from '../history/origin.js'
import { isStepDone, workflowAgent, type WorkflowOptions } from './workflow.js'

export interface ParallelOptions extends WorkflowOptions {
  /**
   * What a lane that fails does: it stops the others and fails them all (default), or the others go on, and those that
   * come after are told. When all have failed, so has this.
   */
  readonly onError?: 'abort' | 'settle'
}

/** Where the lanes stand: those that are through. */
interface ParallelFrame {
  readonly through: Readonly<Record<string, LaneEnd>>
}

type LaneEnd = { readonly type: 'done' } | { readonly type: 'failed'; readonly message: string }
type Ended = { readonly type: 'ended'; readonly control: Control }
type Failed = { readonly type: 'failed'; readonly lane: number; readonly error: unknown }

/**
 * Runs agents side by side. Each hears what was said before, not the others; those that come after hear all, in the order
 * of the lanes. One that exits, or breaks the loop around them, stops the others.
 *
 * @example
 * const views = parallel({ name: 'views', agents: [optimist, pessimist], onError: 'settle' })
 */
export function parallel({ onError = 'abort', ...options }: ParallelOptions): Agent {
  const agents = [...options.agents]
  return workflowAgent('parallel', options, (ctx) => runLanes({ name: options.name, agents, onError }, ctx))
}

interface Lanes {
  readonly name: string
  readonly agents: readonly Agent[]
  readonly onError: 'abort' | 'settle'
}

async function* runLanes(lanes: Lanes, ctx: RunContext): AsyncGenerator<AgentEvent, Control> {
  const frame = ctx.resume.takeFrame() as ParallelFrame | undefined
  const through: Through = { ...frame?.through }
  ctx.resume.keepFrame((): ParallelFrame => ({ through }))
  const waiting: Control[] = []
  const spans = createOpenSpans()
  let failure: { readonly error: unknown } | undefined
  let end: Control | undefined
  try {
    for await (const { value } of mergeLanes(lanes, ctx, through)) {
      if (value.type === 'failed') {
        through[value.lane] = { type: 'failed', message: toWireError(value.error).message }
        yield* failureNote(
          value.error,
          { runId: ctx.resume.originRunId, address: addressOf(lanes, ctx, value.lane) },
          ctx.services,
        )
      } else if (value.type !== 'ended') {
        spans.see(value)
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
  return end ?? joined(waiting) ?? finished(lanes, through)
}

type Through = Record<string, LaneEnd>

function mergeLanes(lanes: Lanes, ctx: RunContext, through: Through) {
  const { clock, graceMs } = ctx.services
  const { signal } = ctx
  const open = lanes.agents.flatMap((_, lane) =>
    through[lane] ? [] : [laneOf(lanes, { lane, ctx, through })],
  )
  const onStrayError = (error: unknown): void =>
    ctx.services.report(`a lane failed as well: ${toWireError(error).code}`)
  return merge(open, { signal, clock, graceMs, onStrayError })
}

interface LaneOptions {
  readonly lane: number
  readonly ctx: RunContext
  readonly through: Through
}

function laneOf(
  { name, agents, onError }: Lanes,
  { lane, ctx, through }: LaneOptions,
): Lane<AgentEvent | Ended | Failed, undefined> {
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
    // Noted at once: what a lane yields may never be read, when the run is stopped.
    if (isStepDone(control, { step: agent.name, workflow: name })) through[lane] = { type: 'done' }
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

/** What the lanes that are not through wait for, all of it. Undefined when all are through. */
function joined(waiting: readonly Control[]): Control | undefined {
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

function finished({ name }: Lanes, through: ParallelFrame['through']): Control {
  const ends = Object.values(through)
  const failures = ends.flatMap((end) => (end.type === 'failed' ? [end.message] : []))
  if (failures.length < ends.length) return { type: 'done' }
  throw new MillraceError('AGENT_ERROR', `All agents of '${name}' failed. ${failures.join(' ')}`)
}

/** The subagents that have started and not ended, so that those that are stopped can be closed. */
export interface OpenSpans {
  see(event: AgentEvent): void
  /** The ends of all that are open, innermost first. */
  close(message: string): AgentEvent[]
}

export function createOpenSpans(): OpenSpans {
  const open = new Set<string>()
  return {
    see(event) {
      if (event.type === 'SUBAGENT_STARTED') open.add(event.subagentRunId)
      if (event.type === 'SUBAGENT_FINISHED' || event.type === 'SUBAGENT_ERROR')
        open.delete(event.subagentRunId)
    },
    close: (message) =>
      Array.from(open, (subagentRunId): AgentEvent => ({
        type: 'SUBAGENT_ERROR',
        subagentRunId,
        message,
      })).reverse(),
  }
}
