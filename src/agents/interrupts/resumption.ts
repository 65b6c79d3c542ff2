import type { Frames, OpenInterrupt } from './checkpoint.js'
import type { Answer } from '../contract.js'

/** Questions that wait for an answer, and what their askers need to go on. */
export interface Suspension {
  readonly openInterrupts: readonly OpenInterrupt[]
  readonly frames: Frames
}

/** The answers this run was resumed with, and what the askers had saved. */
export interface Resumption {
  /** The run that was interrupted first. */
  readonly originRunId: string
  readonly answers: ReadonlyMap<string, Answer>
  readonly openInterrupts: readonly OpenInterrupt[]
  /** Taken out as they are used, so that nothing is resumed twice. */
  readonly frames: Map<string, unknown>
}

/** Where what an asker itself needs is kept: its answers so far, for example. */
export function interruptScopeKey(address: string): string {
  return `${address}?`
}

/** The open questions at an address and below it, or nothing when there are none or one of them has its answer now. */
export function openInterruptsAt(
  { openInterrupts, frames, answers }: Resumption,
  address: string,
): Suspension | undefined {
  const isBelow = (other: string): boolean =>
    other === address || other === interruptScopeKey(address) || other.startsWith(`${address}/`)
  const below = openInterrupts.filter((point) => isBelow(point.address))
  if (below.length === 0 || below.some(({ interrupt }) => answers.has(interrupt.id))) return undefined
  return { openInterrupts: below, frames: Object.fromEntries([...frames].filter(([key]) => isBelow(key))) }
}
