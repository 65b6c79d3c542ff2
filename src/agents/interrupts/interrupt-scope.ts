import type { Interrupt } from '@ag-ui/core'
import { stableHash } from '../../core/ids.js'
import type { JsonSchema } from '../../models/index.js'
import type {
  Answer,
  Control,
  Frames,
  Interrupted,
  InterruptDefaults,
  InterruptRequest,
  InterruptScope,
  OpenInterrupt,
  Suspension,
} from '../contract.js'
import { toChecker, toJsonSchema, type Schema } from '../tools/schema.js'
import { type Resumption, parseAnswer, scopeFrameKey } from './resume.js'

/**
 * Thrown by `ctx.interrupt` to leave the agent or tool that raised the interrupt. Not a failure: it carries the open
 * interrupts to the run. Code that catches it must rethrow it. The end of the scope notices a swallowed one.
 */
export class InterruptSignal extends Error implements Suspension {
  override readonly name = 'InterruptSignal'
  readonly openInterrupts: readonly OpenInterrupt[]
  readonly frames: Frames

  constructor({ openInterrupts, frames }: Suspension) {
    super('The run is interrupted here. Do not catch this: the code runs again when the answer is there.')
    this.openInterrupts = openInterrupts
    this.frames = frames
  }
}

export interface InterruptScopeOptions {
  readonly address: string
  readonly resumption: Resumption
  /** Fields of an interrupt that the request leaves out. */
  readonly defaults: InterruptDefaults
}

interface ScopeFrame {
  /** The answers so far, by the order of the interrupts; null where there is none yet. */
  readonly answers: readonly (Answer | null)[]
  readonly state: unknown
}

/** The interrupts of one agent or tool call. Their order identifies them. */
// Every run has one and few raise an interrupt: create on demand what only those need.
export class NumberedInterrupts implements InterruptScope {
  readonly resumed: { readonly state: unknown } | undefined
  readonly #options: InterruptScopeOptions
  #answers: readonly (Answer | null)[]
  #open: Map<string, OpenInterrupt> | undefined
  #framesBelow: Frames | undefined
  #state: unknown
  #count = 0

  constructor(options: InterruptScopeOptions) {
    const { frames } = options.resumption
    const key = scopeFrameKey(options.address)
    const saved = frames.get(key) as ScopeFrame | undefined
    frames.delete(key)
    this.#options = options
    this.#answers = saved?.answers ?? noAnswers
    this.#state = saved?.state ?? null
    this.resumed = saved && { state: saved.state }
  }

  suspension(): Suspension | undefined {
    if (!this.#open) return undefined
    const answers = Array.from(this.#answers, (answer) => answer ?? null)
    const frame: ScopeFrame = { answers, state: this.#state }
    return {
      openInterrupts: [...this.#open.values()],
      frames: { ...this.#framesBelow, [scopeFrameKey(this.#options.address)]: frame },
    }
  }

  add({ openInterrupts, frames }: Suspension): void {
    for (const open of openInterrupts) this.#openInterrupts().set(open.interrupt.id, open)
    this.#framesBelow = { ...this.#framesBelow, ...frames }
  }

  // An arrow function, since contexts pass it on without the scope.
  readonly interrupt = async <Payload>(request: InterruptRequest<Payload>): Promise<Answer<Payload>> => {
    const { address, resumption, defaults } = this.#options
    const ordinal = this.#count++
    const id = interruptId(resumption.originRunId, address, ordinal)
    const answer = this.#answers[ordinal] ?? resumption.answers.get(id)
    if (answer) {
      const answers = [...this.#answers]
      answers[ordinal] = answer
      this.#answers = answers
      return parseAnswer(answer, request)
    }
    const open = { interrupt: toInterrupt(request, { ...defaults, id }), address }
    this.#openInterrupts().set(id, open)
    this.#state = request.state ?? null
    throw new InterruptSignal(this.suspension() ?? { openInterrupts: [open], frames: {} })
  }

  #openInterrupts(): Map<string, OpenInterrupt> {
    return (this.#open ??= new Map<string, OpenInterrupt>())
  }
}

const noAnswers: readonly never[] = []

/** How an agent or tool ended: it returned a value or threw. */
export type WorkEnd<R> = { readonly value: R } | { readonly error: unknown }

/**
 * The control that work in a scope ended with. An interrupt that was thrown, or swallowed, becomes `interrupted`: work
 * after an unanswered interrupt does not count. Rethrows any other error.
 */
export function controlOf<R extends Control | undefined>(
  scope: InterruptScope,
  end: WorkEnd<R>,
): R | Interrupted {
  if ('value' in end && end.value?.type === 'interrupted') scope.add(end.value)
  if ('error' in end && end.error instanceof InterruptSignal) scope.add(end.error)
  const suspension = scope.suspension()
  if (suspension) return { type: 'interrupted', ...suspension }
  if ('error' in end) throw end.error
  return end.value
}

/** Derived from the address and the ordinal, so that it is the same when the run is interrupted there again. */
function interruptId(originRunId: string, address: string, ordinal: number): string {
  return `int-${stableHash(`${originRunId}\n${address}\n${ordinal}`)}`
}

/** Throws INVALID_AGENT for a schema that answers cannot be checked against. */
function toResponseSchema(schema: Schema): JsonSchema {
  const what = 'responseSchema'
  toChecker(schema, what)
  return toJsonSchema(schema, what)
}

function toInterrupt(request: InterruptRequest, defaults: Interrupt): Interrupt {
  const { reason, message, responseSchema, expiresAt, metadata } = request
  return {
    ...defaults,
    ...(reason === undefined ? {} : { reason }),
    ...(message === undefined ? {} : { message }),
    ...(responseSchema === undefined ? {} : { responseSchema: toResponseSchema(responseSchema) }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
    ...(metadata === undefined ? {} : { metadata }),
  }
}
