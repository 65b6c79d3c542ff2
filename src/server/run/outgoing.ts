import { MillraceError } from '../../core/errors.js'
import type { AgUiEvent } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import { callHook } from './call-hook.js'

const ids = [
  'type',
  'threadId',
  'runId',
  'messageId',
  'toolCallId',
  'subagentRunId',
  'parentMessageId',
] as const

/**
 * The hooks on events on their way out. Undefined when there are none. What it gives rejects when a hook throws, or
 * when it has made something else of the event.
 */
export function createOutgoing(
  server: Pick<ServerContext, 'hooks' | 'metrics'>,
  info: RunInfo,
): ((event: AgUiEvent) => Promise<AgUiEvent>) | undefined {
  const { outputRecord, outputChange } = server.hooks
  if (!outputRecord && !outputChange) return undefined
  return async function outgoing(event) {
    if (outputRecord) await callHook(server, 'outputRecord', () => outputRecord(event, info))
    if (!outputChange) return event
    return callHook(server, 'outputChange', async () => {
      const changed: unknown = await outputChange(event, info)
      assertSameEvent(event, changed)
      return changed
    })
  }
}

function assertSameEvent(event: AgUiEvent, changed: unknown): asserts changed is AgUiEvent {
  const [before, after] = [Object(event) as object, Object(changed) as object]
  const lost = ids.find((id) => Reflect.get(before, id) !== Reflect.get(after, id))
  if (lost !== undefined)
    throw new MillraceError(
      'HOOK_ERROR',
      `The hook 'outputChange' changed '${lost}' of a ${event.type} event.`,
    )
  try {
    JSON.stringify(changed)
  } catch (cause) {
    const message = `The hook 'outputChange' made a ${event.type} event that cannot be written as JSON.`
    throw new MillraceError('ENCODING_ERROR', message, { cause })
  }
}
