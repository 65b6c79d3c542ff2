import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import type { Agent, Control } from '../contract.js'

/** Whether the agent is done and waits for nothing. */
export function isDone(control: Control): control is Extract<Control, { type: 'done' }> {
  return control.type === 'done' && (control.pendingToolCallIds ?? []).length === 0
}

/** Whether the agent has ended for good: it does not resume, in this run or another. */
export function isOver(control: Control): boolean {
  return control.type === 'done'
    ? isDone(control)
    : control.type !== 'interrupted' && control.type !== 'cancelled'
}

const types: Readonly<Record<Control['type'], true>> = {
  ...{ done: true, exit: true, transfer: true, break: true, interrupted: true, cancelled: true },
}
const controlTypes: ReadonlySet<unknown> = new Set(Object.keys(types))

/** Throws INVALID_AGENT unless the value is a Control: an agent may be written without types. */
export function checkControl({ name }: Agent, returned: Control): Control {
  const control: unknown = returned
  const isKnown = isRecord(control) && controlTypes.has(control.type)
  if (isKnown && (returned.type !== 'interrupted' || Array.isArray(returned.openInterrupts))) return returned
  const message = `Agent '${name}' returned what is no Control. Return { type: 'done' }, for example.`
  throw new MillraceError('INVALID_AGENT', message)
}
