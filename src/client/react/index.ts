import { useMemo, useSyncExternalStore } from 'react'
import type { Client, ClientTools, Thread, ThreadOptions, ThreadSnapshot } from '../contract.js'

/** A thread and its snapshot, for a component. */
export type UsedThread<State = unknown, Tools extends ClientTools = ClientTools> = ThreadSnapshot<
  State,
  keyof Tools & string
> & {
  /** To send, stop and so on. The same object while agent and thread are the same. */
  readonly thread: Thread<State, Tools>
}

/** Options of a thread, and its id. */
export interface UseThreadOptions<Tools extends ClientTools = ClientTools> extends ThreadOptions<Tools> {
  /** Default: a new thread. */
  readonly threadId?: string
}

/**
 * Follows a thread while the component is mounted, and renders it again when the thread changes. Safe in StrictMode and on the
 * server, where it shows a thread that is loading. Tools and handlers are those of the render that first names the thread.
 *
 * @example
 * const { thread, messages, status } = useThread(client, 'concierge', { threadId })
 */
export function useThread<State = unknown, Tools extends ClientTools = ClientTools>(
  client: Client,
  agent: string,
  { threadId, ...options }: UseThreadOptions<Tools> = {},
): UsedThread<State, Tools> {
  // A thread does nothing until somebody subscribes: one that a discarded render has made leaves nothing behind.
  const thread = useMemo(
    () => client.thread<State, Tools>(agent, threadId, options),
    [client, agent, threadId],
  )
  const snapshot = useSyncExternalStore(thread.subscribe, thread.getSnapshot, thread.getSnapshot)
  return useMemo(() => ({ ...snapshot, thread }), [snapshot, thread])
}

/** Follows a thread that the application has made itself, so that several components can share it. */
export function useThreadSnapshot<State, Tools extends ClientTools>(
  thread: Thread<State, Tools>,
): ThreadSnapshot<State, keyof Tools & string> {
  return useSyncExternalStore(thread.subscribe, thread.getSnapshot, thread.getSnapshot)
}
