import { MillraceError } from '../core/errors.js'
import type { Agent } from './contract.js'

type PrivateKeys = Agent['privateKeys']

/**
 * The private keys of agents and tools, as a member of the agent that they make up: the state of a thread is one, so a key
 * that is private for one of them is private for all. Throws INVALID_AGENT for what is no list of keys.
 */
export function privateKeysMember(parts: readonly PrivateKeys[]): Pick<Agent, 'privateKeys'> {
  for (const keys of parts)
    if (keys !== undefined && !isListOfKeys(keys))
      throw new MillraceError('INVALID_AGENT', "`privateKeys` must be a list of keys, such as ['role'].")
  const all = [...new Set(parts.flatMap((keys) => keys ?? []))]
  return all.length === 0 ? {} : { privateKeys: all }
}

/** It may come from code without types. */
function isListOfKeys(keys: unknown): boolean {
  return Array.isArray(keys) && keys.every((key) => typeof key === 'string' && key !== '')
}
