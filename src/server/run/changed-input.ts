import { isRecord } from '../../core/is-record.js'
import { parseRunInput, type RunInput } from '../../protocol/index.js'
import type { Thread } from '../../threads/thread.js'
import { checkRunInput } from '../check-input.js'
import type { ServerContext } from '../context.js'
import type { RunInfo } from '../hooks.js'
import { withSentMark } from '../turn/is-edited.js'
import { callHook } from './call-hook.js'

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
  return callHook(server, 'inputChange', async () => {
    const given: unknown = await inputChange(input, known)
    if (!isRecord(given)) throw new TypeError('inputChange gave no request.')
    const changed = checked({ ...given, threadId, runId }, server.limits)
    const sent = new Map(input.messages.map((message) => [message.id, message]))
    const messages = changed.messages.map((message) => withSentMark(message, sent.get(message.id)))
    return { ...changed, messages }
  })
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
