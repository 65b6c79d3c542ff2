import type { Message } from '@ag-ui/core'
import { stateTooLarge, threadFull } from '../../agents/index.js'
import { MillraceError } from '../../core/errors.js'
import { jsonSize } from '../../core/json-size.js'
import type { Limits } from '../contract.js'
import type { PlanDetails } from './run-plan.js'

/**
 * Refuses a request that would make its thread too large, before anything is stored: PAYLOAD_TOO_LARGE for a message that is
 * new in it, THREAD_FULL or STATE_TOO_LARGE for what the run would start with. Stored messages are not judged again, so that
 * a lower limit does not lock their thread.
 */
export function checkPlanSizes(
  { change, messages, state }: Pick<PlanDetails, 'change' | 'messages' | 'state'>,
  limits: Limits,
): void {
  const { threadBytes } = limits
  for (const message of change.append) checkMessage(message, limits)
  if (jsonSize(messages, threadBytes) > threadBytes) throw threadFull(threadBytes)
  checkStateSize(state, limits)
}

/** Throws STATE_TOO_LARGE. */
export function checkStateSize(state: unknown, { stateBytes }: Pick<Limits, 'stateBytes'>): void {
  if (jsonSize(state, stateBytes) > stateBytes) throw stateTooLarge(stateBytes)
}

function checkMessage(message: Message, { attachmentBytes, attachments, toolResultBytes }: Limits): void {
  const { id, role, content } = message
  if (role === 'tool' && jsonSize(content, toolResultBytes) > toolResultBytes)
    throw tooLarge(
      id,
      `the result has more than ${toolResultBytes} bytes (limits.toolResultBytes). Send a shorter one, or say in it that there is too much`,
    )
  if (typeof content !== 'object' || role === 'activity') return
  const media = content.filter((part) => part.type !== 'text')
  if (media.length > attachments)
    throw tooLarge(
      id,
      `${media.length} attachments, and no more than ${attachments} may be in one message (limits.attachments). Send the others in another message`,
    )
  if (media.some(({ source }) => source.type === 'data' && source.value.length > attachmentBytes))
    throw tooLarge(
      id,
      `an attachment has more than ${attachmentBytes} bytes (limits.attachmentBytes). Send a smaller one, or its URL`,
    )
}

function tooLarge(id: string, problem: string): MillraceError {
  return new MillraceError('PAYLOAD_TOO_LARGE', `Message '${id.slice(0, 100)}': ${problem}.`)
}
