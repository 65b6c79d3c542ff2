import { EventType, type BaseEvent } from '@ag-ui/core'
import { captureWarnings } from './captured-warnings.js'
import { openClientLine, type Passage } from './client-line.js'
import { ERRORED, leavesNoTrace, phaseAfter, standInsFor, type Phase } from './stand-ins.js'

/** A client line that goes on after a rejected event as if a fitting one had been in its place. */
export interface RecoveringLine {
  /** As the client line does. `warnings` is what the client wrote to the console meanwhile. */
  send(event: BaseEvent): Passage & { readonly warnings: readonly string[] }
}

/** A fresh client, before its first event. */
export function openRecoveringLine(): RecoveringLine {
  const accepted: BaseEvent[] = []
  let phase: Phase = 'before'
  let line = openClientLine()

  const accept = (event: BaseEvent): void => {
    if (!leavesNoTrace(event, accepted.at(-1))) accepted.push(event)
    phase = phaseAfter(phase, event)
  }
  // A line that failed is dead: another one is brought to the same point.
  const reopen = (): void => {
    line = openClientLine()
    for (const event of accepted) line.send(event)
  }
  /** False when there are no stand-ins, or when the client takes not even those. */
  const recover = (standIns: readonly BaseEvent[]): boolean => {
    reopen()
    for (const event of standIns) {
      if (line.send(event).failure) {
        reopen()
        return false
      }
      accept(event)
    }
    return standIns.length > 0
  }

  return {
    send(event) {
      // A start that comes late has been missed already; that a run is open is no fault of this event.
      const isLateStart = phase === 'assumed' && event.type === EventType.RUN_STARTED
      if (isLateStart) captureWarnings(() => recover([ERRORED]))
      const { result: passage, warnings } = captureWarnings(() => line.send(event))
      const { failure } = passage
      if (!failure) {
        accept(event)
        return { ...passage, warnings }
      }
      const isValid = failure.rule === 'client-verify'
      const standIns = standInsFor(event, { phase, isValid })
      const { result: isReplaced } = captureWarnings(() => recover(standIns))
      return { failure, warnings, events: isValid && isReplaced ? passage.events : [] }
    },
  }
}
