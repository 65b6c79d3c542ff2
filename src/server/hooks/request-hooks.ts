import { isRecord } from '../../core/is-record.js'
import { untilAborted } from '../../core/until-aborted.js'
import { parseRunInput, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/contract.js'
import { checkRunInput } from '../request/check-input.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from './hooks.js'
import { withSentMark } from '../plan/is-edited.js'
import { callHook, isPromise, type HookContext } from './call-hook.js'
import type { Holds } from '../run/release-stack.js'

/** On its own: what is given back at the end must not keep the request until then. */
export async function recordInput(server: ServerContext, input: RunInput, info: RunInfo): Promise<void> {
  const recorded = callHook(server, 'inputRecord', () => server.hooks.inputRecord?.(input, info))
  if (isPromise(recorded)) await untilAborted(recorded, info.signal)
}

/** Takes the team's own lock, to be given back with all else that is held. */
export async function takeLock(server: ServerContext, info: RunInfo, holds: Holds): Promise<void> {
  const { lock } = server.hooks
  if (!lock) return
  let isLate = false
  const locked = callHook(server, 'lock', async () => {
    const unlock = await lock(info)
    if (unlock) holds.add(() => callHook(server, 'lock', unlock))
    // Nobody waits for it any more.
    if (isLate) await holds.free()
  })
  try {
    await untilAborted(Promise.resolve(locked), info.signal)
  } catch (error) {
    isLate = true
    throw error
  }
}

export interface InputFacts {
  readonly input: RunInput
  readonly info: RunInfo
  readonly thread: Thread | undefined
}

/** What the team makes of a request. It stays the same run of the same thread. */
export async function changedInput(
  server: HookContext & Pick<ServerContext, 'hooks'>,
  { input, info, thread }: InputFacts,
): Promise<RunInput> {
  const { inputChange } = server.hooks
  if (!inputChange) return input
  const { interrupts = [], pendingToolCalls = [] } = thread ?? {}
  const known = { ...info, thread: { interrupts, pendingToolCalls } }
  const { threadId, runId } = input
  const changing = callHook(server, 'inputChange', async () => {
    const given: unknown = await inputChange(input, known)
    if (!isRecord(given)) throw new TypeError('inputChange gave no request.')
    const changed = checked({ ...given, threadId, runId }, server.limits)
    const sent = new Map(input.messages.map((message) => [message.id, message]))
    const messages = changed.messages.map((message) => withSentMark(message, sent.get(message.id)))
    return { ...changed, messages }
  })
  return untilAborted(Promise.resolve(changing), info.signal)
}

/** Looked at as if a client had sent it. When it is wrong, that is the fault of the hook and not of the client. */
function checked(given: unknown, limits: ServerContext['limits']): RunInput {
  try {
    const { input } = parseRunInput(given)
    checkRunInput(input, limits)
    return input
  } catch (cause) {
    throw new TypeError('inputChange gave a request that is not valid.', { cause })
  }
}
