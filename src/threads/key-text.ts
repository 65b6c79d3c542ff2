import type { ThreadKey } from './thread.js'

/** One text for each key, and no other key has it: to find a thread in a map. */
export function textOfKey({ app, user, agent, thread }: ThreadKey): string {
  return JSON.stringify([app, user, agent, thread])
}
