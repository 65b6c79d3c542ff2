import type { Message } from '@ag-ui/core'
import { isEqual } from '../../src/core/json.js'
import type { StoredMessage } from './support-server.js'

/** What a client has, and what the server has. */
export interface Records {
  /** The messages of the client. */
  readonly held: readonly Message[]
  /** The messages of the server. */
  readonly stored: readonly StoredMessage[]
  /** The results of tools that the client has ever seen, by call. */
  readonly results: ReadonlyMap<string, string>
  /** Whether a snapshot came: a client puts messages of it that it lacks behind those it has. */
  readonly hasSnapshot: boolean
}

/** Finds what the two sides do not agree on. */
export function faultsIn({ held, stored, results, hasSnapshot }: Records): string[] {
  const faults: string[] = []
  const ids = stored.map(({ id }) => id)
  if (new Set(ids).size !== ids.length) faults.push(`messages are there twice: ${ids.join(' ')}`)
  const difference = hasSnapshot ? differenceOf(byId(held), byId(stored)) : differenceOf(held, stored)
  if (difference !== undefined) faults.push(difference)
  const kept = new Map(stored.map(({ toolCallId, content }) => [toolCallId, String(content)]))
  for (const [id, seen] of results) {
    const now = kept.get(id)
    // A graph may have the result in its checkpoint of which the log knows only that it is lost.
    const isFound = isLost(seen) && now?.includes(' done for ') === true
    if (now !== seen && !isFound) faults.push(`the result of ${id} was ${seen}, and it is now ${String(now)}`)
  }
  return faults
}

/** Whether a result says that nobody knows it. */
function isLost(content: string): boolean {
  return content.startsWith('The result of this call is lost')
}

function byId<T extends { readonly id: string }>(messages: readonly T[]): T[] {
  return messages.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** Where two histories part. */
function differenceOf(ours: readonly object[], theirs: readonly object[]): string | undefined {
  for (let n = 0; n < Math.max(ours.length, theirs.length); n++) {
    const [mine, other] = [ours[n], theirs[n]]
    if (!mine || !other || !isEqual(mine, withoutNewName(other, mine)))
      return `message ${n} of ${ours.length} is ${JSON.stringify(mine)} for the client and ${JSON.stringify(other)} of ${theirs.length} for the server`
  }
  return undefined
}

/** The server adds the names of a team's agents to messages that it sends as a whole. */
function withoutNewName(stored: object, held: object): object {
  if ('name' in held || !('name' in stored)) return stored
  const { name: _, ...rest } = stored
  return rest
}

/** The calls that tools have begun more than once, from lines `begin <call> <key> <process>`. */
export function begunTwice(deeds: readonly string[]): string[] {
  const calls = deeds.flatMap((line) => (line.startsWith('begin ') ? [line.split(' ')[1] ?? ''] : []))
  return calls.filter((call, n) => calls.indexOf(call) !== n)
}
