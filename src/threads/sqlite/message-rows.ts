import type { MessageChange } from '../contract.js'
import type { SqlInteger, SqliteConnection } from './connection.js'

/**
 * The messages of threads. A thread and its forks share what they have in common: messages stand in segments, at the position that
 * they have in the thread. A thread has one segment of its own, to which it alone appends, and inherits the beginning of
 * others before it. All methods are for use in a transaction.
 */
export interface MessageRows {
  /** Changes the end of the messages. Touches those from `keep` on only. `count` is their number before. */
  change(threadId: number, count: number, change: MessageChange): void
  /** Gives a new thread the first `keep` messages of another. */
  inherit(threadId: number, source: number, keep: number): void
  remove(threadId: number): void
}

interface SegmentRow {
  readonly id: SqlInteger
  readonly start: SqlInteger
}

interface OwnSegment {
  readonly id: number
  /** The position of its first message. */
  readonly start: number
}

/** A statement for each is cheapest for so many, also when they are large. */
const fewMessages = 16
/** Four times as fast as a statement for each. */
const messagesAtOnce = 500

export function createMessageRows(connection: SqliteConnection): MessageRows {
  const findOwn = connection.prepare<SegmentRow>('SELECT id, start FROM segments WHERE thread_id = ?')
  const createOwn = connection.prepare<Pick<SegmentRow, 'id'>>(
    'INSERT INTO segments (thread_id, start) VALUES (?, ?) RETURNING id',
  )
  const addMessages = createAddMessages(connection)
  const cutMessages = connection.prepare('DELETE FROM messages WHERE segment_id = ? AND position >= ?')
  const addInherited = connection.prepare(
    'INSERT INTO inherited (thread_id, start, segment_id, until) VALUES (?, ?, ?, ?)',
  )
  const copyInherited = connection.prepare(
    `INSERT INTO inherited (thread_id, start, segment_id, until)
     SELECT ?, start, segment_id, min(until, ?) FROM inherited WHERE thread_id = ? AND start < ?`,
  )
  const inheritedBehind = connection.prepare<{ readonly segment_id: SqlInteger }>(
    'SELECT segment_id FROM inherited WHERE thread_id = ? AND until > ?',
  )
  const dropInherited = connection.prepare('DELETE FROM inherited WHERE thread_id = ? AND start >= ?')
  const cutInherited = connection.prepare('UPDATE inherited SET until = ? WHERE thread_id = ? AND until > ?')
  const lastUse = connection.prepare<{ readonly until: SqlInteger | null }>(
    'SELECT max(until) AS until FROM inherited WHERE segment_id = ?',
  )
  const disown = connection.prepare('UPDATE segments SET thread_id = NULL WHERE id = ?')
  const removeUnused = connection.prepare(
    'DELETE FROM segments WHERE id = ? AND NOT EXISTS (SELECT 1 FROM inherited WHERE segment_id = segments.id)',
  )
  const findOwner = connection.prepare<{ readonly thread_id: SqlInteger | null }>(
    'SELECT thread_id FROM segments WHERE id = ?',
  )

  /** The position behind the last message that a thread inherits from a segment. */
  const inheritedUntil = (segment: number): number => Number(lastUse.get(segment)?.until ?? 0)

  /** Removes what nobody reads of a segment, unless a thread still appends to it. */
  const collect = (segment: number): void => {
    if (findOwner.get(segment)?.thread_id !== null) return
    cutMessages.run(segment, inheritedUntil(segment))
    removeUnused.run(segment)
  }
  /** Ends a thread's own segment. Others may inherit from it still. */
  const leave = (segment: number): void => {
    disown.run(segment)
    collect(segment)
  }
  const cutBefore = (threadId: number, keep: number): void => {
    const segments = inheritedBehind.all(threadId, keep).map(({ segment_id }) => Number(segment_id))
    dropInherited.run(threadId, keep)
    cutInherited.run(keep, threadId, keep)
    segments.forEach(collect)
  }
  /** Cuts the messages. Returns the thread's own segment, if that can be appended to. */
  const cut = (threadId: number, keep: number, own: OwnSegment | undefined): OwnSegment | undefined => {
    if (own && keep >= own.start && inheritedUntil(own.id) <= keep) {
      cutMessages.run(own.id, keep)
      return own
    }
    // Forks have messages that are cut here: they stay, and the thread continues in another segment.
    if (own && keep > own.start) addInherited.run(threadId, own.start, own.id, keep)
    if (own) leave(own.id)
    cutBefore(threadId, keep)
    return undefined
  }
  const ownSegment = (threadId: number): OwnSegment | undefined => {
    const row = findOwn.get(threadId)
    return row && { id: Number(row.id), start: Number(row.start) }
  }

  return {
    change(threadId, count, { keep, append }) {
      let own = ownSegment(threadId)
      if (keep < count) own = cut(threadId, keep, own)
      if (append.length === 0) return
      const id = own?.id ?? Number(createOwn.get(threadId, keep)?.id)
      addMessages(id, keep, append)
    },
    inherit(threadId, source, keep) {
      copyInherited.run(threadId, keep, source, keep)
      const own = ownSegment(source)
      if (own && own.start < keep) addInherited.run(threadId, own.start, own.id, keep)
    },
    remove(threadId) {
      const own = ownSegment(threadId)
      if (own) leave(own.id)
      cutBefore(threadId, 0)
    },
  }
}

/** Writes messages into a segment, from a position on. */
function createAddMessages(
  connection: SqliteConnection,
): (segment: number, position: number, messages: MessageChange['append']) => void {
  const addOne = connection.prepare('INSERT INTO messages (segment_id, position, json) VALUES (?, ?, ?)')
  const addMany = connection.prepare(
    'INSERT INTO messages (segment_id, position, json) SELECT ?, ? + key, value FROM json_each(?)',
  )
  return (segment, position, messages) => {
    const texts = messages.map((message) => JSON.stringify(message))
    if (texts.length <= fewMessages) {
      for (const [index, text] of texts.entries()) addOne.run(segment, position + index, text)
      return
    }
    for (let from = 0; from < texts.length; from += messagesAtOnce)
      addMany.run(segment, position + from, JSON.stringify(texts.slice(from, from + messagesAtOnce)))
  }
}
