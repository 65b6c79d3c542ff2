import type { Owner, ThreadKey } from '../contract.js'

/**
 * A text as it is stored. SQLite and its drivers cut texts at a zero character and cannot hold half of a surrogate
 * pair, and two users must never become one by that: such texts are stored as JSON, which begins with a quote.
 */
export function toSqlText(text: string): string {
  return text.startsWith('"') || text.includes('\0') || /\p{Surrogate}/u.test(text)
    ? JSON.stringify(text)
    : text
}

export function fromSqlText(text: string): string {
  return text.startsWith('"') ? (JSON.parse(text) as string) : text
}

/** The parts of an owner in the order in which statements take them. */
export function ownerParams({ app, user, agent }: Owner): [string, string, string] {
  return [toSqlText(app), toSqlText(user), toSqlText(agent)]
}

export function keyParams(key: ThreadKey): [string, string, string, string] {
  return [...ownerParams(key), toSqlText(key.thread)]
}

/** The condition that `keyParams` fit. */
export const keyMatches = 'app = ? AND user = ? AND agent = ? AND thread = ?'

export function keyOfRow({ app, user, agent, thread }: ThreadKey): ThreadKey {
  return {
    app: fromSqlText(app),
    user: fromSqlText(user),
    agent: fromSqlText(agent),
    thread: fromSqlText(thread),
  }
}
