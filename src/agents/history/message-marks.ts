import type { Message } from '@ag-ui/core'
import { isRecord } from '../../core/is-record.js'

/** Whether a message belongs to an attempt that was taken back. */
export function isRejected({ metadata }: Message): boolean {
  const own: unknown = metadata?.millrace
  return isRecord(own) && 'rejected' in own
}

/** Whether a message was cut off when its run was cancelled. */
export function isCutOff({ metadata }: Message): boolean {
  const own: unknown = metadata?.millrace
  return isRecord(own) && own.cancelled === true
}
