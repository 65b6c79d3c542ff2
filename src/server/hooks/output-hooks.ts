import { MillraceError } from '../../core/errors.js'
import { eventProblem, type AgUiEvent } from '../../protocol/index.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from './hooks.js'
import { callHook, guarded, isPromise, type HookContext } from './call-hook.js'

const ids = [
  'type',
  'threadId',
  'runId',
  'messageId',
  'toolCallId',
  'subagentRunId',
  'parentMessageId',
] as const

/** What becomes of an event on its way out. Throws or rejects when a hook fails, or has made something else of it. */
export type Outgoing = (event: AgUiEvent) => AgUiEvent | Promise<AgUiEvent>

/** The hooks on events on their way out. Undefined when there are none. What it gives can be written as JSON. */
export function createOutgoing(
  server: HookContext & Pick<ServerContext, 'hooks'>,
  info: RunInfo,
): Outgoing | undefined {
  const outgoing = createUnwritten(server, info)
  if (!outgoing || !server.hooks.outputChange) return outgoing
  return async (event) => {
    const changed = await outgoing(event)
    return callHook(server, 'outputChange', () => {
      assertWritable(changed)
      return changed
    })
  }
}

/** The same for those who write the event at once, and so learn by themselves whether that can be done. */
export function createUnwritten(
  server: HookContext & Pick<ServerContext, 'hooks'>,
  info: RunInfo,
): Outgoing | undefined {
  const { outputRecord, outputChange } = server.hooks
  const record =
    outputRecord && guarded(server, 'outputRecord', (event: AgUiEvent) => outputRecord(event, info))
  const change =
    outputChange &&
    guarded(server, 'outputChange', (event: AgUiEvent) => {
      const changed = outputChange(event, info)
      return isPromise(changed) ? changed.then((later) => sameEvent(event, later)) : sameEvent(event, changed)
    })
  if (!record) return change
  return (event) => {
    const noted = record(event)
    if (isPromise(noted)) return noted.then(() => (change ? change(event) : event))
    return change ? change(event) : event
  }
}

/** What the hook made of an event. Looked at also when it is the same object: many change what they are given. */
function sameEvent(event: AgUiEvent, changed: AgUiEvent): AgUiEvent {
  if (changed !== event) assertSameIds(event, changed)
  const problem = eventProblem(changed)
  if (problem === undefined) return changed
  throw new MillraceError('HOOK_ERROR', `The hook 'outputChange' made a malformed event: ${problem}`)
}

function assertSameIds(event: AgUiEvent, changed: AgUiEvent): void {
  const [before, after] = [Object(event) as object, Object(changed) as object]
  const lost = ids.find((id) => Reflect.get(before, id) !== Reflect.get(after, id))
  if (lost === undefined) return
  throw new MillraceError('HOOK_ERROR', `The hook 'outputChange' changed '${lost}' of a ${event.type} event.`)
}

function assertWritable(event: AgUiEvent): void {
  try {
    JSON.stringify(event)
  } catch (cause) {
    throw notWritable(event, cause)
  }
}

/** What a run fails with whose event cannot be written any more. */
export function notWritable({ type }: AgUiEvent, cause: unknown): MillraceError {
  const message = `The hook 'outputChange' made a ${type} event that cannot be written as JSON.`
  return new MillraceError('ENCODING_ERROR', message, { cause })
}
