import type { Owner, ThreadKey } from '../thread.js'

/** One text for each owner, and no other owner has it. */
export function textOfOwner({ app, user, agent }: Owner): string {
  return JSON.stringify([app, user, agent])
}

/** The four parts of a key and nothing else, unchangeable. */
export function copyOfKey({ app, user, agent, thread }: ThreadKey): ThreadKey {
  return Object.freeze({ app, user, agent, thread })
}
