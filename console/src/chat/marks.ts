import type { Message } from './rows.js'

/** What the server says of a message: taken back after a failed attempt, or cut off by a stop or a failure. */
export function markOf({ metadata }: Message): 'rejected' | 'cutOff' | undefined {
  const marks = metadata?.millrace as { readonly rejected?: unknown; readonly cutOff?: unknown } | undefined
  if (marks?.rejected !== undefined && marks.rejected !== false) return 'rejected'
  return marks?.cutOff !== undefined && marks.cutOff !== false ? 'cutOff' : undefined
}
