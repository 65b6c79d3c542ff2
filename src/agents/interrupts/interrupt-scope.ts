import type { Interrupt } from '@ag-ui/core'
import { MillraceError } from '../../core/errors.js'
import { stableHash } from '../../core/hash.js'
import type { Control, Interrupted, Answer, Interrupting, InterruptRequest } from '../contract.js'
import type { Frames, OpenInterrupt } from './checkpoint.js'
import { interruptScopeKey, type Suspension, type Resumption } from './resumption.js'
import { checkAgainst, toJsonSchema } from '../tools/schema.js'

/**
 * Thrown by `ctx.interrupt` to leave the asker. Not a failure: it carries the open questions to the run. Whoever
 * catches it must throw it on; one that is swallowed all the same is noticed when the asker returns.
 */
export class InterruptSignal extends Error implements Suspension {
  override readonly name = 'InterruptSignal'
  readonly openInterrupts: readonly OpenInterrupt[]
  readonly frames: Frames

  constructor(points: readonly OpenInterrupt[], frames: Frames) {
    super('The run stops to ask a person. Do not catch this: the asker runs again when the answer is there.')
    this.openInterrupts = points
    this.frames = frames
  }
}

interface InterruptScopeFrame {
  /** The answers to this asker's questions so far, in the order they were asked; null where there is none yet. */
  readonly answers: readonly (Answer | null)[]
  readonly state: unknown
}

export interface InterruptScopeOptions {
  readonly address: string
  readonly resumption: Resumption
  /** What a question of this asker says unless the request says otherwise. */
  readonly defaults: InterruptDefaults
}

export type InterruptDefaults = Pick<Interrupt, 'reason' | 'toolCallId' | 'subagentRunId'>

export interface InterruptScope extends Interrupting {
  /** All that waits for an answer, also when the asker swallowed the signal. */
  open(): Suspension | undefined
  /** Adds questions of those below this asker. */
  note(paused: Suspension): void
}

/** One who may ask: a tool call or an agent. Questions are numbered by their order. */
export function createInterruptScope(options: InterruptScopeOptions): InterruptScope {
  return new Questions(options)
}

// A class, and what is only for those who ask made when they do: every run has one, and most never ask.
class Questions implements InterruptScope {
  readonly resumed: { readonly state: unknown } | undefined
  readonly #options: InterruptScopeOptions
  #answers: readonly (Answer | null)[]
  #points: Map<string, OpenInterrupt> | undefined
  #framesBelow: Frames | undefined
  #state: unknown
  #asked = 0

  constructor(options: InterruptScopeOptions) {
    const { frames } = options.resumption
    const key = interruptScopeKey(options.address)
    const saved = frames.get(key) as InterruptScopeFrame | undefined
    frames.delete(key)
    this.#options = options
    this.#answers = saved?.answers ?? none
    this.#state = saved?.state ?? null
    this.resumed = saved && { state: saved.state }
  }

  open(): Suspension | undefined {
    return this.#points && this.#paused(this.#points)
  }

  note(below: Suspension): void {
    for (const point of below.openInterrupts) this.#add(point)
    this.#framesBelow = { ...this.#framesBelow, ...below.frames }
  }

  // A member of its own, since contexts hand it on.
  readonly interrupt = async <Payload>(request: InterruptRequest<Payload>): Promise<Answer<Payload>> => {
    const { address, resumption, defaults } = this.#options
    const ordinal = this.#asked++
    const id = pointId(resumption.originRunId, address, ordinal)
    const answer = this.#answers[ordinal] ?? resumption.answers.get(id)
    if (answer) {
      const answers = [...this.#answers]
      answers[ordinal] = answer
      this.#answers = answers
      return checkedAnswer(answer, request)
    }
    const open = this.#add({ interrupt: describe(request, { ...defaults, id }), address })
    this.#state = request.state ?? null
    const { openInterrupts, frames } = this.#paused(open)
    throw new InterruptSignal(openInterrupts, frames)
  }

  #add(point: OpenInterrupt): Map<string, OpenInterrupt> {
    return (this.#points ??= new Map<string, OpenInterrupt>()).set(point.interrupt.id, point)
  }

  #paused(points: ReadonlyMap<string, OpenInterrupt>): Suspension {
    const answers = Array.from(this.#answers, (answer) => answer ?? null)
    const frame: InterruptScopeFrame = { answers, state: this.#state }
    return {
      openInterrupts: [...points.values()],
      frames: { ...this.#framesBelow, [interruptScopeKey(this.#options.address)]: frame },
    }
  }
}

const none: readonly never[] = []

/** How the work of an asker ended: with what it returned, or with what it threw. */
export type WorkEnd<R> = { readonly value: R } | { readonly error: unknown }

/**
 * What the end of an asker's work means. An interrupt it threw is turned into the control it stands for, and one it
 * swallowed is brought back: work after an unanswered question does not count. Any other error is thrown on.
 */
export function afterWork<R extends Control | undefined>(
  asker: InterruptScope,
  end: WorkEnd<R>,
): R | Interrupted {
  if ('value' in end && end.value?.type === 'interrupted') asker.note(end.value)
  if ('error' in end && end.error instanceof InterruptSignal) asker.note(end.error)
  const open = asker.open()
  if (open) return { type: 'interrupted', ...open }
  if ('error' in end) throw end.error
  return end.value
}

/** Derived from who asks and the how manieth question it is: the same when the run is interrupted there again. */
function pointId(originRunId: string, address: string, ordinal: number): string {
  return `int-${stableHash(`${originRunId}\n${address}\n${ordinal}`)}`
}

function describe(request: InterruptRequest, defaults: Interrupt): Interrupt {
  const { reason, message, responseSchema, expiresAt, metadata } = request
  return {
    ...defaults,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(responseSchema === undefined
      ? {}
      : { responseSchema: toJsonSchema(responseSchema, 'responseSchema') }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}

/** The answer as the schema gives it. It was checked when it came in; a schema may also have changed since. */
async function checkedAnswer<Payload>(
  answer: Answer,
  { responseSchema }: InterruptRequest<Payload>,
): Promise<Answer<Payload>> {
  if (answer.status === 'cancelled') return answer
  // Without a schema the payload is whatever the asker takes it for.
  if (!responseSchema) return answer as Answer<Payload>
  const checked = await checkAgainst(responseSchema, answer.payload)
  if (checked.ok) return { status: 'resolved', payload: checked.value }
  const issues = checked.issues.map(({ path, message }) => `${path}: ${message}`).join('; ')
  throw new MillraceError('INVALID_RESUME', `An answer does not fit its question: ${issues}`)
}
