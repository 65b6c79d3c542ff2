import type { Interrupt, Metadata, RunFinishedOutcome, TokenUsage } from '@ag-ui/core'
import { InterruptSchema, TokenUsageSchema } from '@ag-ui/core/schemas'
import { errorCodes } from '../../core/error-codes.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import type { EventOf } from '../events.js'
import { checkValue } from '../check/check-value.js'
import { toShape } from '../check/schema-shape.js'
import { toJson } from './clean.js'
import { carry, closeAll } from './items.js'
import { markComplete } from './messages.js'
import { endLane, isWithin, type LaneEnding } from './lanes.js'
import { owner, type Lane, type Run } from './run.js'

/** How a run can end well. A thrown error is the other way. */
export type RunEnd =
  | { readonly type: 'success'; readonly result?: unknown; readonly usage?: readonly TokenUsage[] }
  | {
      readonly type: 'interrupt'
      readonly interrupts: readonly Interrupt[]
      readonly usage?: readonly TokenUsage[]
    }
  | {
      readonly type: 'cancelled'
      /** Metadata for the messages that are cut off. */
      readonly mark?: Metadata
      readonly usage?: readonly TokenUsage[]
    }

type Ids = Pick<EventOf<'RUN_FINISHED'>, 'threadId' | 'runId'>

const interruptShape = toShape(InterruptSchema)
const usageShape = toShape(TokenUsageSchema)

/**
 * Closes all that is open and writes the terminal event. Throws before anything is written when the result or an
 * interrupt cannot be sent.
 */
export function finishRun(run: Run, ids: Ids, end: RunEnd): void {
  const finished = { type: 'RUN_FINISHED' as const, ...ids }
  const usage = usageOf(end.usage)
  switch (end.type) {
    case 'success': {
      // Null says nothing a missing result does not say, and clients refuse it.
      const result = toJson(end.result ?? null, 'the result of the run')
      closeRun(run, () => ({ type: 'SUBAGENT_FINISHED' }))
      run.emit({ ...finished, ...(result === null ? {} : { result }), outcome: success(run), ...usage })
      return
    }
    case 'interrupt': {
      const interrupts = checkedInterrupts(run, end.interrupts)
      closeRun(run, (lane) => suspended(run, lane, interrupts))
      run.emit({ ...finished, outcome: { type: 'interrupt', interrupts }, ...usage })
      return
    }
    case 'cancelled':
      if (end.mark) markOpen(run, end.mark)
      closeRun(run, () => ({
        type: 'SUBAGENT_ERROR',
        message: errorCodes.RUN_CANCELLED.text,
        code: 'RUN_CANCELLED',
      }))
      run.emit({ ...finished, outcome: { type: 'cancelled' }, ...usage })
  }
}

export interface FailOptions {
  readonly usage?: readonly TokenUsage[]
  /** Metadata for the messages and tool calls that are cut off. */
  readonly mark?: Metadata
}

/** Closes all that is open and writes RUN_ERROR with what a client may know of the error. */
export function failRun(run: Run, error: unknown, { usage, mark }: FailOptions = {}): void {
  const wire = toWireError(error)
  if (mark) markOpen(run, mark)
  closeRun(run, () => ({ type: 'SUBAGENT_ERROR', ...wire }))
  run.emit({ type: 'RUN_ERROR', ...wire, ...usageOf(usage) })
}

export interface CloseOptions {
  /** Metadata for the messages and tool calls that are cut off. */
  readonly mark?: Metadata
  /** Marks complete messages too, except those of subagents that have ended. Default false. */
  readonly markComplete?: boolean
  /** The message of the SUBAGENT_ERROR that ends each running subagent. */
  readonly reason: string
}

/** Closes all that is open and leaves the run open. Returns the ids of the messages that were cut off. */
export function closeOpen(run: Run, { mark, markComplete: all = false, reason }: CloseOptions): string[] {
  const cutOff = [run.root, ...run.openLanes]
    .flatMap(({ open }) => [...open])
    .flatMap(({ kind, id }) => (kind === 'text' || kind === 'reasoning' ? [id] : []))
  if (mark) markOpen(run, mark)
  if (mark && all) {
    for (const items of [run.messages.text, run.messages.reasoning, run.renamed])
      for (const item of items?.values() ?? [])
        if (item.wasOpen && !cutOff.includes(item.id) && !item.lane.closed) markComplete(run, item, mark)
  }
  closeRun(run, () => ({ type: 'SUBAGENT_ERROR', message: reason }))
  return cutOff
}

function markOpen(run: Run, metadata: Metadata): void {
  for (const lane of [run.root, ...run.openLanes]) {
    for (const item of lane.open) if (item.kind !== 'span') carry(item, { metadata })
  }
}

function closeRun(run: Run, ending: (lane: Lane) => LaneEnding): void {
  for (const lane of [...run.openLanes].reverse()) endLane(run, lane, ending(lane))
  closeAll(run, run.root)
}

function success(run: Run): RunFinishedOutcome {
  const pendingToolCallIds = [...run.calls.values()].filter((call) => !call.answered).map(({ id }) => id)
  return pendingToolCallIds.length > 0 ? { type: 'success', pendingToolCallIds } : { type: 'success' }
}

/** A subagent with a question of its own, or of one below it, waits; any other has nothing more to say. */
function suspended(run: Run, lane: Lane, interrupts: readonly Interrupt[]): LaneEnding {
  const within = new Set([...run.lanes.values()].filter((other) => isWithin(other, lane)).map(({ id }) => id))
  const interruptIds = interrupts
    .filter(
      ({ id, subagentRunId: asker }) =>
        lane.waitsFor?.includes(id) === true || (asker !== undefined && within.has(asker)),
    )
    .map(({ id }) => id)
  if (!lane.waitsFor && interruptIds.length === 0) return { type: 'SUBAGENT_FINISHED' }
  const ids = interruptIds.length > 0 ? { interruptIds } : {}
  return { type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended', ...ids } }
}

function checkedInterrupts(run: Run, interrupts: readonly Interrupt[]): Interrupt[] {
  if (interrupts.length === 0) {
    throw new MillraceError(
      'INVALID_INTERRUPT',
      'The run stopped to ask, but asks nothing: there is no interrupt.',
    )
  }
  const ids = new Set<string>()
  return interrupts.map((interrupt) => {
    const { value, issues } = checkValue(toJson(interrupt, 'an interrupt'), interruptShape)
    const [issue] = issues
    if (issue) throw new MillraceError('INVALID_INTERRUPT', `interrupt.${issue.field}: ${issue.message}`)
    // The walk has just compared every member with the schema this type is generated from.
    const { subagentRunId: tag, ...checked } = value as Interrupt
    if (ids.has(checked.id)) {
      throw new MillraceError(
        'INVALID_INTERRUPT',
        `Two interrupts have the id '${checked.id}'; answers could not tell them apart.`,
      )
    }
    ids.add(checked.id)
    const known = tag === undefined ? run.root : run.lanes.get(tag)
    if (!known || known.closed)
      run.report(`interrupt '${checked.id}' is of subagent '${tag ?? ''}', which is not running`)
    let asker = known
    while (asker?.closed) asker = asker.parent
    return { ...checked, ...(asker ? owner(asker) : {}) }
  })
}

/** Counts a client can take. A broken count is left out: it must not cost the user the answer. */
function usageOf(usage: readonly TokenUsage[] = []): { usage?: TokenUsage[] } {
  const entries = usage.flatMap((entry) => {
    const valid = Object.entries(entry).filter(([key, value]) => isUsageField(key, value))
    return valid.length > 0 ? [Object.fromEntries(valid)] : []
  })
  return entries.length > 0 ? { usage: entries } : {}
}

function isUsageField(key: string, value: unknown): boolean {
  if (usageShape.kind !== 'object') return false
  const field = usageShape.fields.get(key)?.shape
  return field?.kind === 'leaf' && value !== undefined && field.check(value)
}
