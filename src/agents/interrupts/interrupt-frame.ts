import type { Interrupt } from '@ag-ui/core'
import type { Interrupted, Answer } from '../contract.js'

/**
 * What an agent of a foreign runtime leaves behind when it stops to ask: its questions, and the answers so far. JSON,
 * saved with the thread; runtimes add what they need to go on.
 */
export interface InterruptFrame {
  readonly interrupts: readonly { readonly interrupt: Interrupt }[]
  /** By the id of the question. The agent goes on when all are there. */
  readonly answers: Readonly<Record<string, Answer>>
}

/** The frame with the answers of this run. */
export function withAnswers<F extends InterruptFrame>(frame: F, answers: ReadonlyMap<string, Answer>): F {
  const fresh = frame.interrupts.flatMap(({ interrupt: { id } }) => {
    const answer = answers.get(id)
    return answer ? [[id, answer] as const] : []
  })
  return { ...frame, answers: { ...frame.answers, ...Object.fromEntries(fresh) } }
}

/** Whether every question has its answer. A model that saw only some of them would be confused. */
export function isAnswered(frame: InterruptFrame): boolean {
  return openInterruptsOf(frame).length === 0
}

/** Stops the run to ask what is still open, at this address. */
export function interruptedBy(address: string, frame: InterruptFrame): Interrupted {
  const openInterrupts = openInterruptsOf(frame).map(({ interrupt }) => ({ interrupt, address }))
  return { type: 'interrupted', openInterrupts, frames: { [address]: frame } }
}

function openInterruptsOf({ interrupts, answers }: InterruptFrame): InterruptFrame['interrupts'] {
  return interrupts.filter(({ interrupt }) => !(interrupt.id in answers))
}
