import type { Owner, ThreadKey } from './contract.js'

/** One text for each key, and no other key has it: to find a thread in a map. */
export function threadKeyText({ app, user, agent, thread }: ThreadKey): string {
  return JSON.stringify([app, user, agent, thread])
}

/** One text for each owner, and no other owner has it. */
export function ownerText({ app, user, agent }: Owner): string {
  return JSON.stringify([app, user, agent])
}

/** The four parts of a key and nothing else, unchangeable. */
export function copyThreadKey({ app, user, agent, thread }: ThreadKey): ThreadKey {
  return Object.freeze({ app, user, agent, thread })
}
