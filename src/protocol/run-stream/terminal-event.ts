import {
  type Interrupt,
  type Metadata,
  type RunFinishedOutcome,
  type TokenUsage,
  aggregateTokenUsage,
} from '@ag-ui/core'
import { InterruptSchema, TokenUsageSchema } from '@ag-ui/core/schemas'
import { errorTexts } from '../../core/error-texts.js'
import { MillraceError, toWireError } from '../../core/errors.js'
import { toJson } from '../../core/to-json.js'
import { checkValue } from '../check/check-value.js'
import { toShape } from '../check/schema-shape.js'
import type { CloseOptions, EventOf, FailOptions, RunEnd } from '../contract.js'
import { carry } from './items.js'
import { closeLanes, isLaneWithin, type LaneEnd } from './lanes.js'
import { markCompleteMessage } from './messages.js'
import { restateMessages } from './rewrites.js'
import { failUnfinishedSurfaces } from './thread-events.js'
import { laneTag, type Lane, type RunState } from './run-state.js'

type Ids = Pick<EventOf<'RUN_FINISHED'>, 'threadId' | 'runId'>

const interruptShape = toShape(InterruptSchema)

/**
 * Closes all open items and writes the terminal event. Throws before anything is written when the result or an
 * interrupt cannot be sent.
 */
export function writeRunFinished(run: RunState, ids: Ids, end: RunEnd): void {
  const finished = { type: 'RUN_FINISHED' as const, ...ids }
  const usage = usageField(end.usage)
  switch (end.type) {
    case 'success': {
      // Null means the same as no result, and clients refuse it.
      const result = toJson(end.result ?? null, 'the result of the run')
      failUnfinishedSurfaces(run)
      closeLanes(run, () => ({ type: 'SUBAGENT_FINISHED' }))
      restateMessages(run)
      run.emit({
        ...finished,
        ...(result === null ? {} : { result }),
        outcome: successOutcome(run),
        ...usage,
      })
      return
    }
    case 'interrupt': {
      const interrupts = checkInterrupts(run, end.interrupts)
      failUnfinishedSurfaces(run)
      closeLanes(run, (lane) => endOfInterrupted(run, lane, interrupts))
      restateMessages(run)
      run.emit({ ...finished, outcome: { type: 'interrupt', interrupts }, ...usage })
      return
    }
    case 'cancelled':
      if (end.mark) markOpen(run, end.mark)
      failUnfinishedSurfaces(run)
      closeLanes(run, () => ({
        type: 'SUBAGENT_ERROR',
        message: errorTexts.RUN_CANCELLED,
        code: 'RUN_CANCELLED',
      }))
      restateMessages(run)
      run.emit({ ...finished, outcome: { type: 'cancelled' }, ...usage })
  }
}

/** Closes all open items and writes RUN_ERROR with the public part of the error. */
export function writeRunError(run: RunState, error: unknown, { usage, mark }: FailOptions = {}): void {
  const wire = toWireError(error)
  if (mark) markOpen(run, mark)
  failUnfinishedSurfaces(run)
  closeLanes(run, () => ({ type: 'SUBAGENT_ERROR', ...wire }))
  restateMessages(run)
  run.emit({ type: 'RUN_ERROR', ...wire, ...usageField(usage) })
}

/** Closes all open items and leaves the run open. Returns the ids of the messages that were cut off. */
export function closeOpen(
  run: RunState,
  { mark, markComplete: all = false, reason }: CloseOptions,
): string[] {
  const cutOff = [run.root, ...run.openLanes]
    .flatMap(({ open }) => [...open])
    .flatMap(({ kind, id }) => (kind === 'text' || kind === 'reasoning' ? [id] : []))
  if (mark) markOpen(run, mark)
  if (mark && all) {
    for (const items of [run.messages.text, run.messages.reasoning, run.renamed])
      for (const item of items?.values() ?? [])
        if (item.wasOpen && !cutOff.includes(item.id) && !item.lane.closed)
          markCompleteMessage(run, item, mark)
  }
  closeLanes(run, () => ({ type: 'SUBAGENT_ERROR', message: reason }))
  return cutOff
}

function markOpen(run: RunState, metadata: Metadata): void {
  for (const lane of [run.root, ...run.openLanes]) {
    for (const item of lane.open) if (item.kind !== 'span') carry(item, { metadata })
  }
}

function successOutcome(run: RunState): RunFinishedOutcome {
  const open = [...run.calls.values()].filter(({ answered, id }) => !answered && run.fold.list.hasCall(id))
  const pendingToolCallIds = open.map(({ id }) => id)
  return pendingToolCallIds.length > 0 ? { type: 'success', pendingToolCallIds } : { type: 'success' }
}

/** A subagent with an open interrupt, of its own or of one below it, is suspended. Any other is finished. */
function endOfInterrupted(run: RunState, lane: Lane, interrupts: readonly Interrupt[]): LaneEnd {
  const within = new Set(
    [...run.lanes.values()].filter((other) => isLaneWithin(other, lane)).map(({ id }) => id),
  )
  const interruptIds = interrupts
    .filter(
      ({ id, subagentRunId }) =>
        lane.interruptIds?.includes(id) === true ||
        (subagentRunId !== undefined && within.has(subagentRunId)),
    )
    .map(({ id }) => id)
  if (!lane.interruptIds && interruptIds.length === 0) return { type: 'SUBAGENT_FINISHED' }
  const ids = interruptIds.length > 0 ? { interruptIds } : {}
  return { type: 'SUBAGENT_FINISHED', outcome: { type: 'suspended', ...ids } }
}

/** Checks the interrupts and attributes each to its subagent. */
function checkInterrupts(run: RunState, interrupts: readonly Interrupt[]): Interrupt[] {
  if (interrupts.length === 0) {
    throw new MillraceError('INVALID_INTERRUPT', 'An interrupted run needs at least one interrupt.')
  }
  const ids = new Set<string>()
  return interrupts.map((interrupt) => {
    const { value, issues } = checkValue(toJson(interrupt, 'an interrupt'), interruptShape)
    const [issue] = issues
    if (issue) throw new MillraceError('INVALID_INTERRUPT', `interrupt.${issue.field}: ${issue.message}`)
    // The walk has just compared every member with the schema this type is generated from.
    const { subagentRunId: tag, toolCallId, ...checked } = value as Interrupt
    if (ids.has(checked.id)) {
      throw new MillraceError(
        'INVALID_INTERRUPT',
        `Two interrupts have the id '${checked.id}'; answers could not tell them apart.`,
      )
    }
    ids.add(checked.id)
    return { ...checked, ...knownCall(run, checked.id, toolCallId), ...ownerTag(run, checked.id, tag) }
  })
}

/** The call of an interrupt. Left out when clients do not have it: a hook may have dropped it, or the agent hides it. */
function knownCall(run: RunState, id: string, toolCallId: string | undefined): { toolCallId?: string } {
  if (toolCallId === undefined) return {}
  if (run.fold.list.hasCall(toolCallId)) return { toolCallId }
  run.report(`interrupt '${id}' names tool call '${toolCallId}', which clients do not have`)
  return {}
}

/**
 * The tag of an interrupt: the subagent that raised it, or the nearest one above that still runs. A subagent that this run
 * has not started raised it in an earlier run.
 */
function ownerTag(run: RunState, id: string, tag: string | undefined): { subagentRunId?: string } {
  if (tag === undefined) return {}
  let owner = run.lanes.get(tag)
  if (!owner) return { subagentRunId: tag }
  if (owner.closed) run.report(`interrupt '${id}' is of subagent '${tag}', which is not running`)
  while (owner?.closed) owner = owner.parent
  return owner ? laneTag(owner) : {}
}

function usageField(calls: readonly TokenUsage[] = []): { usage?: TokenUsage[] } {
  const usage = sumUsage(calls)
  return usage.length > 0 ? { usage } : {}
}

const usageShape = toShape(TokenUsageSchema)

/**
 * Adds up the usage of model calls: one entry per provider and model. Leaves out broken counts, which must not spoil the
 * sum or fail the run.
 */
export function sumUsage(calls: readonly TokenUsage[]): TokenUsage[] {
  const valid = calls.flatMap((call) => {
    const fields = Object.entries(call).filter(([key, value]) => isUsageField(key, value))
    return fields.length > 0 ? [Object.fromEntries(fields)] : []
  })
  return aggregateTokenUsage(valid.map(withAllCounts)).map(withTotal)
}

/** Computes the count that the other two give, so that calls which report different counts add up. */
function withAllCounts(usage: TokenUsage): TokenUsage {
  const { inputTokens: input, outputTokens: output, totalTokens: total } = usage
  if (total === undefined || (input === undefined) === (output === undefined)) return usage
  const rest = total - (input ?? output ?? 0)
  if (rest < 0) return usage
  return input === undefined ? { ...usage, inputTokens: rest } : { ...usage, outputTokens: rest }
}

/** AG-UI's total is input plus output. A reported total stands only where neither is known. */
function withTotal({ totalTokens, provider, model, ...usage }: TokenUsage): TokenUsage {
  const { inputTokens: input, outputTokens: output } = usage
  const isTotalOnly = input === undefined && output === undefined
  const total =
    input !== undefined && output !== undefined ? input + output : isTotalOnly ? totalTokens : undefined
  return {
    ...(provider === undefined ? {} : { provider }),
    ...(model === undefined ? {} : { model }),
    ...usage,
    ...(total === undefined ? {} : { totalTokens: total }),
  }
}

function isUsageField(key: string, value: unknown): boolean {
  if (usageShape.kind !== 'object') return false
  const field = usageShape.fields.get(key)?.shape
  return field?.kind === 'leaf' && value !== undefined && field.check(value)
}
