import type { Message } from '@ag-ui/core'
import type { FieldPath } from '../check/check-value.js'
import type { AgUiEvent, EventOf } from '../contract.js'

/** Notes that a client does not get something of this kind. */
export type Lose = (kind: string, path: FieldPath) => void

interface Attributable {
  subagentRunId?: string
}

/**
 * Makes a stage that shows the work of subagents as the parent's own. It leaves out their SUBAGENT events and the
 * attribution of events, messages and interrupts; texts get the name of their subagent, so that they can be told apart.
 * Never mutates an event.
 */
export function createSubagentInliner(
  lose: Lose,
  withAuthor: (message: Message) => Message,
): (event: AgUiEvent) => AgUiEvent | undefined {
  const steps = new StepNames()
  const names = new Map<string | undefined, string>()
  const inlineMessage = (message: Message): Message => {
    const name = names.get(message.subagentRunId)
    const isNamed = message.role !== 'assistant' || message.name !== undefined
    return untag(isNamed ? message : name === undefined ? withAuthor(message) : { ...message, name })
  }
  return function inline(event) {
    switch (event.type) {
      case 'SUBAGENT_STARTED':
        names.set(event.subagentRunId, event.name)
        lose('subagent', [event.type])
        return undefined
      case 'SUBAGENT_FINISHED':
      case 'SUBAGENT_ERROR':
        lose('subagent', [event.type])
        return undefined
      case 'RUN_STARTED':
        steps.clear()
        return event.input ? { ...event, input: mapMessages(event.input, inlineMessage) } : event
      case 'MESSAGES_SNAPSHOT':
        return mapMessages(event, inlineMessage)
      case 'TEXT_MESSAGE_START': {
        const name = names.get(event.subagentRunId)
        const isNamed = (event.role ?? 'assistant') !== 'assistant' || event.name !== undefined
        return untag(isNamed || name === undefined ? event : { ...event, name })
      }
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

function mapMessages<T extends { messages: Message[] }>(holder: T, map: (message: Message) => Message): T {
  return { ...holder, messages: holder.messages.map(map) }
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
