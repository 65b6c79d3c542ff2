import type { Owner, ThreadChange, ThreadKey } from './contract.js'

/** The key as one unique text, for maps. */
export function threadKeyText({ app, user, agent, thread }: ThreadKey): string {
  return JSON.stringify([app, user, agent, thread])
}

/** The owner as one unique text, for maps. */
export function ownerText({ app, user, agent }: Owner): string {
  return JSON.stringify([app, user, agent])
}

/** A frozen copy of the four members of a key. */
export function copyThreadKey({ app, user, agent, thread }: ThreadKey): ThreadKey {
  return Object.freeze({ app, user, agent, thread })
}

/** The thread whose messages a change keeps, if it is the first of a fork. */
export function forkSource(
  key: ThreadKey,
  { version, keep, forkedFrom }: ThreadChange,
): ThreadKey | undefined {
  return version === 0 && keep > 0 && forkedFrom !== undefined ? { ...key, thread: forkedFrom } : undefined
}
