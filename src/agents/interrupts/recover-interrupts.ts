import type { Interrupt } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { OpenInterrupt } from '../contract.js'
import type { Checkpoint } from './checkpoint.js'
import { isInterruptFrame } from './interrupt-frame.js'

/** The interrupts of a thread, and the answers that a run had when it was lost. */
export interface LostAnswers {
  readonly interrupts: readonly Interrupt[]
  readonly checkpoint: unknown
  /** The ids of the interrupts that the run answered. */
  readonly answered: readonly string[]
}

/** What is left of the interrupts. */
export interface RecoveredInterrupts {
  /** Still open: they take an answer. */
  readonly interrupts: readonly Interrupt[]
  readonly checkpoint?: unknown
}

/**
 * The interrupts after a run was lost that answered some of them. An answer about a tool call counts once: the tool may
 * have begun, so it must not run again, whether or not its result is known. All other interrupts are open as before. So
 * are those of an agent that waits for more answers, or has asked about something else than calls: it begins anew.
 */
export function recoverInterrupts({ interrupts, checkpoint, answered }: LostAnswers): RecoveredInterrupts {
  const saved = isCheckpoint(checkpoint) ? checkpoint : undefined
  const taken = new Set(
    interrupts
      .filter(({ id, toolCallId }) => toolCallId !== undefined && answered.includes(id))
      .map(({ id }) => id),
  )
  for (const { interrupt, address } of saved?.openInterrupts ?? [])
    if (isWaiting(saved?.frames[address], interrupt.id, taken)) taken.delete(interrupt.id)
  if (taken.size === 0) return { interrupts, ...(checkpoint === undefined ? {} : { checkpoint }) }
  const open = interrupts.filter(({ id }) => !taken.has(id))
  return { interrupts: open, ...(saved && { checkpoint: withoutTaken(saved, taken) }) }
}

/** Whether the agent had to wait for another answer, so that nothing was done with this one. */
function isWaiting(frame: unknown, id: string, taken: ReadonlySet<string>): boolean {
  if (!isInterruptFrame(frame)) return false
  const group = frame.interrupts.find(({ interrupt }) => interrupt.id === id)?.group
  return frame.interrupts.some(
    (other) =>
      (group === undefined || other.group === group) &&
      !taken.has(other.interrupt.id) &&
      !(other.interrupt.id in frame.answers),
  )
}

/** Keeps the ids of the taken ones: answering once more does nothing. */
function withoutTaken(saved: Checkpoint, taken: ReadonlySet<string>): Checkpoint {
  const isTaken = ({ interrupt }: OpenInterrupt): boolean => taken.has(interrupt.id)
  const open = saved.openInterrupts.filter((one) => !isTaken(one))
  const answered = [...saved.answered, ...taken]
  if (open.length === 0)
    return { ...saved, messages: [], state: {}, values: {}, openInterrupts: [], frames: {}, answered }
  const frames = Object.entries(saved.frames).flatMap(([address, frame]) => {
    if (!isInterruptFrame(frame)) return [[address, frame] as const]
    const interrupts = frame.interrupts.filter((one) => !taken.has(one.interrupt.id))
    return interrupts.length === 0 ? [] : [[address, { ...frame, interrupts }] as const]
  })
  return { ...saved, openInterrupts: open, frames: Object.fromEntries(frames), answered }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  return isRecord(value) && Array.isArray(value.openInterrupts) && Array.isArray(value.answered)
}
