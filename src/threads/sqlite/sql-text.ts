import type { Owner, ThreadKey } from '../contract.js'

/**
 * A text as it is stored. SQLite and its drivers cut texts at a zero character and cannot hold half of a surrogate pair, so
 * two users could become one: such texts are stored as JSON, which begins with a quote.
 */
export function toSqlText(text: string): string {
  return text.startsWith('"') || text.includes('\0') || /\p{Surrogate}/u.test(text)
    ? JSON.stringify(text)
    : text
}

export function fromSqlText(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text
}

/** The members of an owner in the order of statements. */
export function ownerParams({ app, user, agent }: Owner): [string, string, string] {
  return [toSqlText(app), toSqlText(user), toSqlText(agent)]
}

export function keyParams(key: ThreadKey): [string, string, string, string] {
  return [...ownerParams(key), toSqlText(key.thread)]
}

/** The condition that takes `keyParams`. */
export const keyMatches = 'app = ? AND user = ? AND agent = ? AND thread = ?'

export function toThreadKey({ app, user, agent, thread }: ThreadKey): ThreadKey {
  return {
    app: fromSqlText(app),
    user: fromSqlText(user),
    agent: fromSqlText(agent),
    thread: fromSqlText(thread),
  }
}
