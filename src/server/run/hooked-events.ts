import type { Control } from '../../agents/index.js'
import type { AgentEvent } from '../../protocol/index.js'
import type { Replaced } from '../hooks.js'
import { isPromise } from './call-hook.js'

/** What stands in the place of an event. */
export type EventHook = (event: AgentEvent) => Replaced<AgentEvent> | Promise<Replaced<AgentEvent>>

type Step = IteratorResult<AgentEvent, Control>

/**
 * The events of an agent as hooks leave them: each hook is called with every event that the one before it gave. One that
 * throws ends the stream, and the agent is closed.
 */
export function hookedEvents(
  source: AsyncGenerator<AgentEvent, Control>,
  hooks: readonly EventHook[],
): AsyncGenerator<AgentEvent, Control> {
  return new HookedEvents(source, hooks)
}

// Not an async generator around the source: that would cost every event several turns of the microtask queue.
class HookedEvents implements AsyncGenerator<AgentEvent, Control> {
  readonly #source: AsyncGenerator<AgentEvent, Control>
  readonly #hooks: readonly EventHook[]
  readonly #onStep = (step: Step): Step | Promise<Step> => this.#firstOf(step)
  /** What is still to come of an event that has become several, or that a hook takes its time for. */
  #rest: AsyncGenerator<AgentEvent, void> | undefined

  constructor(source: AsyncGenerator<AgentEvent, Control>, hooks: readonly EventHook[]) {
    this.#source = source
    this.#hooks = hooks
  }

  next(): Promise<Step> {
    return this.#rest ? this.#more() : this.#source.next().then(this.#onStep)
  }

  return(value: Control | PromiseLike<Control>): Promise<Step> {
    return this.#source.return(value)
  }

  throw(error: unknown): Promise<Step> {
    return this.#source.throw(error)
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  #firstOf(step: Step): Step | Promise<Step> {
    try {
      return this.#hooked(step) ?? this.#more()
    } catch (error) {
      return this.#fail(error)
    }
  }

  /** The step that one becomes, or nothing when it is to be seen from `#rest`. */
  #hooked(step: Step): Step | undefined {
    if (step.done === true) return step
    let event = step.value
    let next = 0
    for (const hook of this.#hooks) {
      const given = hook(event)
      next++
      if (!isOne(given)) {
        this.#rest = allOf(given, this.#hooks.slice(next))
        return undefined
      }
      event = given
    }
    return event === step.value ? step : { done: false, value: event }
  }

  async #more(): Promise<Step> {
    try {
      for (;;) {
        const step = await this.#rest?.next()
        if (step?.done === false) return step
        this.#rest = undefined
        const next = this.#hooked(await this.#source.next())
        if (next) return next
      }
    } catch (error) {
      return this.#fail(error)
    }
  }

  async #fail(error: unknown): Promise<never> {
    await this.#source.return({ type: 'cancelled' })
    throw error
  }
}

/** One after the other: nothing is asked about an event before those in front of it are on their way. */
async function* allOf(
  given: ReturnType<EventHook>,
  [hook, ...others]: readonly EventHook[],
): AsyncGenerator<AgentEvent, void> {
  for (const event of toList(await given)) {
    if (hook) yield* allOf(hook(event), others)
    else yield event
  }
}

function isOne(given: ReturnType<EventHook>): given is AgentEvent {
  return given !== undefined && !isPromise(given) && 'type' in given
}

function toList(value: Replaced<AgentEvent>): readonly AgentEvent[] {
  if (value === undefined) return []
  return 'type' in value ? [value] : value
}
