import { linkAbort } from '../../core/abort.js'
import { abortable } from '../../core/abortable.js'
import { MillraceError } from '../../core/errors.js'
import type { AgentEvent } from '../../protocol/index.js'
import { checkNumber } from '../check-number.js'
import type { Agent, AgentLimits, Control, RunServices } from '../contract.js'
import type { RunScope } from './context.js'

/** Throws INVALID_AGENT, naming the limit, for one that is no time. Returns them as a member of an agent. */
export function limitsMember(limits: AgentLimits | undefined): Pick<Agent, 'limits'> {
  if (!limits) return {}
  for (const [name, value] of Object.entries(limits))
    if (value !== undefined && value !== Infinity) checkNumber(`limits.${name}`, value, { min: 1 })
  return { limits }
}

/** Aborts a run when its time is over. Returns a function that ends the limit. */
export function scheduleTimeout(
  { clock }: Pick<RunServices, 'clock'>,
  runTimeoutMs: number,
  controller: AbortController,
): () => void {
  if (runTimeoutMs === Infinity) return () => undefined
  return clock.schedule(runTimeoutMs, () => {
    controller.abort(new MillraceError('EXECUTION_TIMEOUT', `The run took longer than ${runTimeoutMs} ms.`))
  })
}

/** The scope with the agent's own limit for tools. */
export function withToolLimit(scope: RunScope, { limits }: Agent): RunScope {
  const { toolTimeoutMs } = limits ?? {}
  return toolTimeoutMs === undefined ? scope : { ...scope, services: { ...scope.services, toolTimeoutMs } }
}

/** The time of an agent that runs below another. */
export interface TimeLimit {
  /** Aborts when the time is over or the run is stopped. */
  readonly signal: AbortSignal
  /** The events of the agent. Throws EXECUTION_TIMEOUT when its time is over, settled or not. */
  run(source: AsyncGenerator<AgentEvent, Control>): AsyncGenerator<AgentEvent, Control>
}

/** Undefined for an agent without a limit. */
export function timeLimitOf(
  { name, limits }: Agent,
  parent: AbortSignal,
  services: RunServices,
): TimeLimit | undefined {
  const { runTimeoutMs = Infinity } = limits ?? {}
  if (runTimeoutMs === Infinity) return undefined
  const controller = new AbortController()
  const { signal } = controller
  return {
    signal,
    async *run(source) {
      const { clock, graceMs, report } = services
      const message = `Agent '${name}' took longer than ${runTimeoutMs} ms.`
      const cancel = clock.schedule(runTimeoutMs, () =>
        controller.abort(new MillraceError('EXECUTION_TIMEOUT', message)),
      )
      const release = linkAbort(parent, controller)
      const onStrayError = (error: unknown): void =>
        report(`agent '${name}' failed after its time was over`, error)
      try {
        return yield* abortable(source, { signal, clock, graceMs, onStrayError })
      } finally {
        cancel()
        release()
      }
    },
  }
}
