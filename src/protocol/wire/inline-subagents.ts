import type { AgUiEvent, EventOf } from '../events.js'

interface Attributable {
  subagentRunId?: string
}

/**
 * Makes a stage that shows the work of subagents as the parent's own: their announcements are left out, and so is
 * the attribution of events, messages and interrupts. Never mutates an event.
 */
export function createSubagentInliner(): (event: AgUiEvent) => AgUiEvent | undefined {
  const steps = new StepNames()
  return function inline(event) {
    switch (event.type) {
      case 'SUBAGENT_STARTED':
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        return undefined
      case 'RUN_STARTED':
        steps.clear()
        return event.input ? { ...event, input: untagMessages(event.input) } : event
      case 'MESSAGES_SNAPSHOT':
        return untagMessages(event)
      case 'RUN_FINISHED':
        return untagInterrupts(event)
      case 'RUN_ERROR':
        return event
      case 'STEP_STARTED':
        return { ...untag(event), stepName: steps.open(event) }
      case 'STEP_FINISHED':
        return { ...untag(event), stepName: steps.close(event) }
      default:
        return untag(event)
    }
  }
}

function untag<T extends Attributable>(value: T): T {
  if (value.subagentRunId === undefined) return value
  const copy = { ...value }
  delete copy.subagentRunId
  return copy
}

function untagMessages<T extends { messages: Attributable[] }>(holder: T): T {
  return { ...holder, messages: holder.messages.map(untag) }
}

function untagInterrupts(event: EventOf<'RUN_FINISHED'>): AgUiEvent {
  if (event.outcome?.type !== 'interrupt') return event
  return { ...event, outcome: { ...event.outcome, interrupts: event.outcome.interrupts.map(untag) } }
}

type StepEvent = EventOf<'STEP_STARTED' | 'STEP_FINISHED'>

/**
 * The names under which steps are shown. A subagent often runs the same graph as its parent, so both may have a step
 * `tools` open at once; as the steps of one agent they need two names, `tools` and `tools#2`.
 */
class StepNames {
  /** Owner, then step name, then the name shown. The parent's owner is undefined, which no subagent id is. */
  readonly #shown = new Map<string | undefined, Map<string, string>>()
  readonly #open = new Set<string>()

  clear(): void {
    this.#shown.clear()
    this.#open.clear()
  }

  open({ subagentRunId, stepName }: StepEvent): string {
    let name = stepName
    for (let n = 2; this.#open.has(name); n++) name = `${stepName}#${n}`
    const own = this.#shown.get(subagentRunId) ?? new Map<string, string>()
    this.#shown.set(subagentRunId, own.set(stepName, name))
    this.#open.add(name)
    return name
  }

  close({ subagentRunId, stepName }: StepEvent): string {
    const own = this.#shown.get(subagentRunId)
    const name = own?.get(stepName) ?? stepName
    own?.delete(stepName)
    this.#open.delete(name)
    return name
  }
}
