import type { ThreadKey } from '../../threads/contract.js'
import type { ServerContext } from '../context.js'

/**
 * How many messages the thread of a request has as it comes in, when it has to wait for the run at work there: what that
 * run is going to say is nothing that the client has left out. Undefined when it need not wait.
 */
export async function arrivedAt(server: ServerContext, key: ThreadKey): Promise<number | undefined> {
  const { registry, store, whenBusy } = server
  const live = registry.get(key)
  if (live) return live.start.messages.length
  // A run of another process, which only the store knows of.
  if (whenBusy === 'reject' || !(await store.leases.isHeld(key))) return undefined
  const thread = await store.threads.load(key)
  const start = thread?.run?.status === 'running' ? thread.run.start : undefined
  return start ? start.keep + start.append.length : thread?.messages.length
}
