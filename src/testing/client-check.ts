import { EventType, type BaseEvent } from '@ag-ui/core'
import type { AgUiEvent } from '../protocol/index.js'
import { captureWarnings } from './captured-warnings.js'
import { openClientLine, type Passage } from './client-line.js'
import { describeError } from './describe.js'
import type { Finding } from './rules/rule.js'

export interface ClientVerdict {
  readonly findings: readonly Finding[]
  /** What later stages of a client see of the event: nothing when it was rejected or dropped. */
  readonly events: readonly AgUiEvent[]
}

/** Runs events through the client's own checks and goes on where a client would give up. */
export interface ClientCheck {
  check(event: BaseEvent): ClientVerdict
}

type Phase = 'before' | 'open' | 'ended'

const STARTED: BaseEvent = { type: EventType.RUN_STARTED, threadId: '', runId: '' }
const ERRORED: BaseEvent = { type: EventType.RUN_ERROR, message: '' }

/** The same sentence about another event of the stream is not repeated: it would bury the rest. */
export function createClientCheck(): ClientCheck {
  const accepted: BaseEvent[] = []
  const said = new Set<string>()
  let phase: Phase = 'before'
  let line = openClientLine()

  const accept = (event: BaseEvent): void => {
    accepted.push(event)
    if (event.type === EventType.RUN_STARTED) phase = 'open'
    if (event.type === EventType.RUN_FINISHED || event.type === EventType.RUN_ERROR) phase = 'ended'
  }
  const reopen = (): void => {
    line = openClientLine()
    for (const event of accepted) line.send(event)
  }
  // A failed line is dead: open another one, bring it to the same point and put the stand-ins where the event was.
  const recover = (standIns: readonly BaseEvent[]): void => {
    reopen()
    for (const event of standIns) {
      if (line.send(event).failure) {
        reopen()
        return
      }
      accept(event)
    }
  }

  return {
    check(event) {
      const { result: passage, warnings } = captureWarnings(() => line.send(event))
      const findings = findingsOf(event, passage, warnings).filter(({ rule, message }) => {
        const isNew = !said.has(rule + message)
        said.add(rule + message)
        return isNew
      })
      if (!passage.failure) {
        accept(event)
        return { findings, events: passage.events }
      }
      const isValid = passage.failure.rule === 'client-verify'
      const standIns = standInsFor(event, phase, isValid)
      captureWarnings(() => {
        recover(standIns)
      })
      return { findings, events: isValid && standIns.length > 0 ? passage.events : [] }
    },
  }
}

function findingsOf({ type }: BaseEvent, { failure }: Passage, warnings: readonly string[]): Finding[] {
  const findings: Finding[] = warnings.map((warning) => ({ rule: 'client-warning', message: warning }))
  if (!failure) return findings
  const reason = describeError(failure.error)
  const message = failure.rule === 'client-schema' ? `${type} is malformed: ${reason}` : reason
  return [...findings, { rule: failure.rule, message }]
}

/**
 * What takes the place of a rejected event so that the rest of the stream is judged on its own: without it, a stream
 * with one bad run event would be nothing but follow-up errors.
 */
function standInsFor(event: BaseEvent, phase: Phase, isValid: boolean): BaseEvent[] {
  switch (event.type) {
    case EventType.RUN_STARTED:
      return [...(phase === 'open' ? [ERRORED] : []), isValid ? event : STARTED]
    case EventType.RUN_FINISHED:
    case EventType.RUN_ERROR:
      if (phase === 'ended') return []
      return phase === 'before' ? [STARTED, ERRORED] : [ERRORED]
    default:
      if (phase !== 'before') return []
      return isValid ? [STARTED, event] : [STARTED]
  }
}
