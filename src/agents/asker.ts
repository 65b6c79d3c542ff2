import type { Interrupt } from '@ag-ui/core'
import { MillraceError } from '../core/errors.js'
import { stableHash } from '../core/hash.js'
import type { Control, Interrupted } from './agent.js'
import type { Frames, Point } from './checkpoint.js'
import type { Answer, Interrupting, InterruptRequest } from './interrupt.js'
import { askerKey, type Paused, type Resumption } from './resumption.js'
import { checkAgainst, toJsonSchema } from './schema.js'

/**
 * Thrown by `ctx.interrupt` to leave the asker. Not a failure: it carries the open questions to the run. Whoever
 * catches it must throw it on; one that is swallowed all the same is noticed when the asker returns.
 */
export class InterruptSignal extends Error implements Paused {
  override readonly name = 'InterruptSignal'
  readonly points: readonly Point[]
  readonly frames: Frames

  constructor(points: readonly Point[], frames: Frames) {
    super('The run stops to ask a person. Do not catch this: the asker runs again when the answer is there.')
    this.points = points
    this.frames = frames
  }
}

interface AskerFrame {
  /** The answers to this asker's questions so far, in the order they were asked; null where there is none yet. */
  readonly answers: readonly (Answer | null)[]
  readonly state: unknown
}

export interface AskerOptions {
  readonly address: string
  readonly resumption: Resumption
  /** What a question of this asker says unless the request says otherwise. */
  readonly defaults: InterruptDefaults
}

export type InterruptDefaults = Pick<Interrupt, 'reason' | 'toolCallId' | 'subagentRunId'>

export interface Asker extends Interrupting {
  /** All that waits for an answer, also when the asker swallowed the signal. */
  open(): Paused | undefined
  /** Adds questions of those below this asker. */
  note(paused: Paused): void
}

/** One who may ask: a tool call or an agent. Questions are numbered by their order. */
export function createAsker(options: AskerOptions): Asker {
  return new Questions(options)
}

// A class, and what is only for those who ask made when they do: every run has one, and most never ask.
class Questions implements Asker {
  readonly resumed: { readonly state: unknown } | undefined
  readonly #options: AskerOptions
  #answers: readonly (Answer | null)[]
  #points: Map<string, Point> | undefined
  #framesBelow: Frames | undefined
  #state: unknown
  #asked = 0

  constructor(options: AskerOptions) {
    const { frames } = options.resumption
    const key = askerKey(options.address)
    const saved = frames.get(key) as AskerFrame | undefined
    frames.delete(key)
    this.#options = options
    this.#answers = saved?.answers ?? none
    this.#state = saved?.state ?? null
    this.resumed = saved && { state: saved.state }
  }

  open(): Paused | undefined {
    return this.#points && this.#paused(this.#points)
  }

  note(below: Paused): void {
    for (const point of below.points) this.#add(point)
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
    const { points, frames } = this.#paused(open)
    throw new InterruptSignal(points, frames)
  }

  #add(point: Point): Map<string, Point> {
    return (this.#points ??= new Map<string, Point>()).set(point.interrupt.id, point)
  }

  #paused(points: ReadonlyMap<string, Point>): Paused {
    const answers = Array.from(this.#answers, (answer) => answer ?? null)
    const frame: AskerFrame = { answers, state: this.#state }
    return {
      points: [...points.values()],
      frames: { ...this.#framesBelow, [askerKey(this.#options.address)]: frame },
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
export function afterWork<R extends Control | undefined>(asker: Asker, end: WorkEnd<R>): R | Interrupted {
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
