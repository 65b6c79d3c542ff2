import type { BaseEvent } from '@ag-ui/core'
import type { AgUiEvent } from '../protocol/index.js'
import { describeError } from './describe.js'
import { openRecoveringLine } from './recovering-line.js'
import type { Finding } from './rules/rule.js'

interface ClientVerdict {
  readonly findings: readonly Finding[]
  /** Whether a client would have failed the run here. */
  readonly isRejected: boolean
  /** What the event means to the stages behind the client's checks; nothing when it means nothing. */
  readonly events: readonly AgUiEvent[]
}

/**
 * Runs the events of one stream, in order, through the checks of `@ag-ui/client`. A complaint is made once: the same
 * sentence about more events would bury the rest.
 */
export function createClientCheck(): (event: BaseEvent) => ClientVerdict {
  const line = openRecoveringLine()
  const complaints = new Set<string>()

  const isNew = ({ rule, message }: Finding): boolean => {
    const before = complaints.size
    return complaints.add(`${rule} ${message}`).size > before
  }
  return (event) => {
    const { events, failure, warnings } = line.send(event)
    const findings: Finding[] = warnings.map((message) => ({ rule: 'client-warning', message }))
    if (failure) {
      const reason = describeError(failure.error)
      const message = failure.rule === 'client-schema' ? `${event.type} is malformed: ${reason}` : reason
      findings.push({ rule: failure.rule, message })
    }
    return { findings: findings.filter(isNew), isRejected: failure !== undefined, events }
  }
}
