import { isRecord } from '../../core/json.js'
import { untilAborted } from '../../core/abort.js'
import { parseRunInput, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/contract.js'
import { checkRunInput } from '../request/check-input.js'
import { withSentMark } from '../plan/edited-message.js'
import type { ReleaseStack } from '../run/lease.js'
import { callHook, isPromise, type HookContext } from './call-hook.js'
import type { RunInfo } from './hooks.js'

/** Calls `inputRecord`. */
export async function recordInput(server: HookContext, input: RunInput, info: RunInfo): Promise<void> {
  const recorded = callHook(server, 'inputRecord', () => server.hooks.inputRecord?.(input, info))
  if (isPromise(recorded)) await untilAborted(recorded, info.signal)
}

/** Takes the application's own lock and defers its release. */
export async function takeLock(server: HookContext, info: RunInfo, releases: ReleaseStack): Promise<void> {
  // Without the request in its scope: the release would keep it in memory until the run is over.
  const { lock } = server.hooks
  if (!lock) return
  let isLate = false
  const locked = callHook(server, 'lock', async () => {
    const unlock = await lock(info)
    if (unlock) releases.defer(() => callHook(server, 'lock', unlock))
    // The request no longer waits for the lock.
    if (isLate) await releases.releaseAll()
  })
  try {
    await untilAborted(Promise.resolve(locked), info.signal)
  } catch (error) {
    isLate = true
    throw error
  }
}

interface ChangeInputOptions {
  readonly input: RunInput
  readonly info: RunInfo
  readonly thread: Thread | undefined
}

/** The request after `inputChange`, which cannot change the run or the thread. */
export async function changeInput(
  server: HookContext,
  { input, info, thread }: ChangeInputOptions,
): Promise<RunInput> {
  const { inputChange } = server.hooks
  if (!inputChange) return input
  const { interrupts = [], pendingToolCalls = [] } = thread ?? {}
  const withThread = { ...info, thread: { interrupts, pendingToolCalls } }
  const { threadId, runId } = input
  const changing = callHook(server, 'inputChange', async () => {
    const result: unknown = await inputChange(input, withThread)
    if (!isRecord(result)) throw new TypeError('inputChange gave no request.')
    const changed = checkChangedInput({ ...result, threadId, runId }, server)
    const sent = new Map(input.messages.map((message) => [message.id, message]))
    const messages = changed.messages.map((message) => withSentMark(message, sent.get(message.id)))
    return { ...changed, messages }
  })
  return untilAborted(Promise.resolve(changing), info.signal)
}

/** Checks the request as if a client had sent it. A mistake is the hook's, not the client's. */
function checkChangedInput(changed: unknown, { limits }: HookContext): RunInput {
  try {
    const { input } = parseRunInput(changed)
    checkRunInput(input, limits)
    return input
  } catch (cause) {
    throw new TypeError('inputChange gave a request that is not valid.', { cause })
  }
}
