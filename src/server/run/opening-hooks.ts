import { isRecord } from '../../core/is-record.js'
import { untilAborted } from '../../core/until-aborted.js'
import { parseRunInput, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/thread.js'
import { checkRunInput } from '../check-input.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import { withSentMark } from '../turn/is-edited.js'
import { callHook, isPromise } from './call-hook.js'
import type { Holds } from './holds.js'

/** On its own: what is given back at the end must not keep the request until then. */
export async function recordInput(server: ServerContext, input: RunInput, info: RunInfo): Promise<void> {
  const recorded = callHook(server, 'inputRecord', () => server.hooks.inputRecord?.(input, info))
  if (isPromise(recorded)) await untilAborted(recorded, info.signal)
}

/** Takes the team's own lock, to be given back with all else that is held. */
export async function takeLock(server: ServerContext, info: RunInfo, holds: Holds): Promise<void> {
  const locked = Promise.resolve(callHook(server, 'lock', () => server.hooks.lock?.(info)))
  const release = (unlock: Awaited<typeof locked>): void => {
    if (unlock) holds.add(() => callHook(server, 'lock', unlock))
  }
  try {
    release(await untilAborted(locked, info.signal))
  } catch (error) {
    // Nobody waits for the lock any more. When it comes all the same, it is given back.
    if (info.signal.aborted)
      void locked.then(async (unlock) => {
        release(unlock)
        await holds.free()
      }, ignore)
    throw error
  }
}

function ignore(): void {
  // It was refused, which is what became of the request too.
}

export interface InputFacts {
  readonly input: RunInput
  readonly info: RunInfo
  readonly thread: Thread | undefined
}

/** What the team makes of a request. It stays the same run of the same thread. */
export async function changedInput(
  server: Pick<ServerContext, 'hooks' | 'limits' | 'metrics'>,
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
