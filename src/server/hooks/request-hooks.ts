import { isRecord } from '../../core/json.js'
import { toJson } from '../../core/to-json.js'
import { untilAborted } from '../../core/abort.js'
import { parseRunInput, type RunInput } from '../../protocol/index.js'
import type { Claims } from '../../agents/index.js'
import type { Thread, ThreadKey } from '../../threads/contract.js'
import { checkRunInput } from '../request/check-input.js'
import { withRewrittenMark } from '../plan/edited-message.js'
import type { ReleaseStack } from '../run/lease.js'
import { callHook, isPromise, type HookContext } from './call-hook.js'
import type { RequestFields, RunInfo } from './hooks.js'
import { withRecordedChanges } from './record-changes.js'

/** The request that hooks are called for. */
interface HookedRequest {
  readonly key: ThreadKey
  readonly claims: Claims
  readonly input: RunInput
  readonly controller: AbortController
}

/** The info of a run, before its thread is known. */
export function createRunInfo({ key, claims, input, controller: { signal } }: HookedRequest): LiveRunInfo {
  const { runId } = input
  return { key, runId, claims, signal, input: requestFields(input), data: new Map(), thread: undefined }
}

/** The info while the server completes it. */
export interface LiveRunInfo extends RunInfo {
  input: RunInfo['input']
  thread: RunInfo['thread']
}

function requestFields({ messages: _messages, state: _state, ...fields }: RunInput): RequestFields {
  return fields
}

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
  readonly info: LiveRunInfo
  readonly thread: Thread | undefined
}

/** The request after `inputChange`, which cannot change the run or the thread. Completes the info. */
export async function changeInput(
  server: HookContext,
  { input, info, thread }: ChangeInputOptions,
): Promise<RunInput> {
  const { inputChange } = server.hooks
  const { interrupts = [], pendingToolCalls = [] } = thread ?? {}
  const threadInfo = (info.thread = { isNew: thread === undefined, interrupts, pendingToolCalls })
  if (!inputChange) return input
  const { threadId, runId } = input
  const changing = callHook(server, 'inputChange', async () => {
    const change = withRecordedChanges(server, { name: 'inputChange', info }, (given: RunInput) =>
      inputChange(given, Object.assign(info, { thread: threadInfo })),
    )
    const result: unknown = await change(input)
    if (!isRecord(result)) throw new TypeError('inputChange gave no request.')
    const changed = checkChangedInput({ ...result, threadId, runId }, server)
    const sent = new Map(input.messages.map((message) => [message.id, message]))
    const messages = changed.messages.map((message) => withRewrittenMark(message, sent.get(message.id)))
    return { ...changed, messages, state: toJson(changed.state, 'The state of inputChange') }
  })
  const changed = await untilAborted(Promise.resolve(changing), info.signal)
  info.input = requestFields(changed)
  return changed
}

/** The state of `initialState`, for a new thread. Undefined without that hook. */
export async function initialState(server: HookContext, input: RunInput, info: RunInfo): Promise<unknown> {
  const { initialState: hook } = server.hooks
  if (!hook) return undefined
  const making = callHook(server, 'initialState', async () => {
    const state: unknown = await hook(input, info)
    if (!isRecord(state)) throw new TypeError('initialState gave no object.')
    return toJson(state, 'state')
  })
  return untilAborted(Promise.resolve(making), info.signal)
}

/** Checks the request as if a client had sent it. A mistake is the hook's, not the client's. */
function checkChangedInput(changed: unknown, { limits }: HookContext): RunInput {
  try {
    const { input } = parseRunInput(changed)
    checkRunInput(input, limits)
    return { ...input, state: toJson(input.state, 'state') }
  } catch (cause) {
    throw new TypeError('inputChange gave a request that is not valid.', { cause })
  }
}
