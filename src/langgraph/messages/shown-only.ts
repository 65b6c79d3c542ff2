import type { Message } from '@ag-ui/core'

const prefix = 'shown-'

/**
 * The id of a message or tool call that is shown to people and that the graph does not have: one that code emits, or a
 * tool that code calls.
 */
export function shownOnlyId(id: string): string {
  return `${prefix}${id}`
}

/** Whether the graph does not have a message of the thread, because it was only shown to people. */
export function isShownOnly(message: Message): boolean {
  return (message.role === 'tool' ? message.toolCallId : message.id).startsWith(prefix)
}
