import type { Interrupt } from '@ag-ui/core'
import { isRecord } from '../../core/json.js'
import type { Answer, Interrupted } from '../contract.js'

/**
 * The frame of an interrupted agent of a foreign runtime: its interrupts and the answers so far. JSON, saved with the
 * thread. Runtimes add what they need to resume.
 */
export interface InterruptFrame {
  readonly interrupts: readonly FrameInterrupt[]
  /** By interrupt id. The agent resumes when all interrupts of a group are answered. */
  readonly answers: Readonly<Record<string, Answer>>
}

interface FrameInterrupt {
  readonly interrupt: Interrupt
  /** The agent resumes when all interrupts of the same group are answered. Without one, when all of the frame are. */
  readonly group?: string
}

/** Adds the answers of this run to a frame. */
export function withAnswers<F extends InterruptFrame>(frame: F, answers: ReadonlyMap<string, Answer>): F {
  const fresh = frame.interrupts.flatMap(({ interrupt: { id } }) => {
    const answer = answers.get(id)
    return answer ? [[id, answer] as const] : []
  })
  return { ...frame, answers: { ...frame.answers, ...Object.fromEntries(fresh) } }
}

/** Whether every interrupt has its answer. Only some of the answers would confuse the model. */
export function isAnswered(frame: InterruptFrame): boolean {
  return unansweredIn(frame).length === 0
}

/** The control that interrupts the run with the unanswered interrupts, raised at this address. */
export function interruptedBy(address: string, frame: InterruptFrame): Interrupted {
  const openInterrupts = unansweredIn(frame).map(({ interrupt }) => ({ interrupt, address }))
  return { type: 'interrupted', openInterrupts, frames: { [address]: frame } }
}

/** Whether a saved frame is an interrupt frame. */
export function isInterruptFrame(frame: unknown): frame is InterruptFrame {
  return isRecord(frame) && Array.isArray(frame.interrupts) && isRecord(frame.answers)
}

function unansweredIn({ interrupts, answers }: InterruptFrame): InterruptFrame['interrupts'] {
  return interrupts.filter(({ interrupt }) => !(interrupt.id in answers))
}
