import { isThreadStateKey } from '../../protocol/index.js'

/** The key under which a session with a generated id says which thread it belongs to. */
export const threadIdKey = 'millrace_thread_id'

/** Whether a key of a session's state belongs to the conversation alone: clients see these, and no others. */
export function isShared(key: string): boolean {
  return key !== threadIdKey && isThreadStateKey(key)
}
