import type { Control } from '../contract.js'

/** Whether the agent has done all it had to do, and waits for nothing. */
export function isDone(control: Control): control is Extract<Control, { type: 'done' }> {
  return control.type === 'done' && (control.pendingToolCallIds ?? []).length === 0
}

/** Whether the agent will not go on from here, in this run or another. */
export function isOver(control: Control): boolean {
  return control.type === 'done'
    ? isDone(control)
    : control.type !== 'interrupted' && control.type !== 'cancelled'
}
