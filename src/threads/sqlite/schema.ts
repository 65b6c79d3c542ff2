import { MillraceError } from '../../core/errors.js'
import { inTransaction } from './connection.js'
import { damagedFile } from './driver-errors.js'
import type { SqliteDatabase } from './driver.js'

/** Migration n turns version n of the tables into n + 1. Never change a published one. */
const migrations: readonly string[] = [
  // Long texts stand last in a row, so that SQLite does not read them for a list. Tables without a row id keep the rows of a
  // thread together; log rows are too long for that. AUTOINCREMENT: the token of a lease must never come again.
  `CREATE TABLE meta (name TEXT PRIMARY KEY, value) WITHOUT ROWID;
   CREATE TABLE leases (
     token INTEGER PRIMARY KEY AUTOINCREMENT,
     app TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, thread TEXT NOT NULL,
     owner TEXT NOT NULL,
     expires_at INTEGER NOT NULL,
     pid INTEGER NOT NULL,
     host TEXT NOT NULL,
     UNIQUE (app, user, agent, thread)
   );
   CREATE TABLE threads (
     id INTEGER PRIMARY KEY,
     app TEXT NOT NULL, user TEXT NOT NULL, agent TEXT NOT NULL, thread TEXT NOT NULL,
     version INTEGER NOT NULL,
     created_at INTEGER NOT NULL,
     updated_at INTEGER NOT NULL,
     message_count INTEGER NOT NULL,
     interrupt_count INTEGER NOT NULL,
     pending_count INTEGER NOT NULL,
     run_id TEXT,
     forked_from TEXT,
     title TEXT NOT NULL,
     interrupts TEXT NOT NULL,
     pending TEXT NOT NULL,
     state TEXT NOT NULL,
     checkpoint TEXT,
     shown TEXT,
     UNIQUE (app, user, agent, thread)
   );
   CREATE INDEX threads_by_owner ON threads (app, user, agent, updated_at DESC, thread) WHERE version > 0;
   CREATE INDEX threads_by_age ON threads (updated_at) WHERE version > 0;
   CREATE TABLE messages (
     thread_id INTEGER NOT NULL,
     position INTEGER NOT NULL,
     json TEXT NOT NULL,
     PRIMARY KEY (thread_id, position)
   ) WITHOUT ROWID;
   CREATE TABLE runs (
     thread_id INTEGER NOT NULL,
     run_id TEXT NOT NULL,
     status TEXT NOT NULL,
     started_at INTEGER NOT NULL,
     ended_at INTEGER,
     next_seq INTEGER NOT NULL,
     error TEXT,
     start TEXT,
     PRIMARY KEY (thread_id, run_id)
   ) WITHOUT ROWID;
   CREATE INDEX runs_at_work ON runs (thread_id) WHERE status = 'running';
   CREATE TABLE log (
     id INTEGER PRIMARY KEY,
     thread_id INTEGER NOT NULL,
     run_id TEXT NOT NULL,
     last_seq INTEGER NOT NULL,
     first_seq INTEGER NOT NULL,
     lines TEXT NOT NULL,
     UNIQUE (thread_id, run_id, last_seq)
   );`,
  // Threads share messages with their forks. AUTOINCREMENT: a new segment must not have the id of an old thread.
  `ALTER TABLE messages RENAME COLUMN thread_id TO segment_id;
   CREATE TABLE segments (
     id INTEGER PRIMARY KEY AUTOINCREMENT,
     thread_id INTEGER UNIQUE,
     start INTEGER NOT NULL
   );
   INSERT INTO segments (id, thread_id, start) SELECT id, id, 0 FROM threads;
   CREATE TABLE inherited (
     thread_id INTEGER NOT NULL,
     start INTEGER NOT NULL,
     segment_id INTEGER NOT NULL,
     until INTEGER NOT NULL,
     PRIMARY KEY (thread_id, start)
   ) WITHOUT ROWID;
   CREATE INDEX inherited_by_segment ON inherited (segment_id, until);`,
  // A title that a person has given is not replaced.
  `ALTER TABLE threads ADD COLUMN is_title_given INTEGER NOT NULL DEFAULT 0;
   ALTER TABLE threads ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;`,
  // SQLite knows the case of ASCII letters only. Titles written before are found by those until they change.
  `ALTER TABLE threads ADD COLUMN folded_title TEXT NOT NULL DEFAULT '';
   UPDATE threads SET folded_title = lower(title);`,
]

/** Configures a database and migrates its tables. Throws STORE_ERROR for a damaged file, and for tables of a later Millrace. */
export function prepareSchema(database: SqliteDatabase): void {
  // First, since all that follows may meet another process. SQLite's own wait would stop this one.
  database.exec('PRAGMA busy_timeout = 0')
  const version = schemaVersion(database)
  // A new file has nothing to check.
  if (version > 0) checkPages(database)
  if (version < migrations.length) migrate(database)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec('PRAGMA wal_autocheckpoint = 8000')
  // A crash of the process loses nothing; one of the machine may lose the last commits, never a part of one.
  database.exec('PRAGMA synchronous = NORMAL')
  // Removed threads leave nothing readable behind.
  database.exec('PRAGMA secure_delete = ON')
}

/** Reads the whole file, at about its size in gigabytes in seconds. A damaged page is found now, not by a user. */
function checkPages(database: SqliteDatabase): void {
  const row = database.prepare('PRAGMA quick_check(1)').get() as { readonly quick_check: string }
  if (row.quick_check !== 'ok') throw damagedFile(row.quick_check)
}

function migrate(database: SqliteDatabase): void {
  inTransaction(database, () => {
    // Read again: no other process can write now.
    for (const migration of migrations.slice(schemaVersion(database))) database.exec(migration)
    database.exec(`PRAGMA user_version = ${migrations.length}`)
  })
}

function schemaVersion(database: SqliteDatabase): number {
  const row = database.prepare('PRAGMA user_version').get() as { readonly user_version: number | bigint }
  const version = Number(row.user_version)
  assertKnownVersion(version)
  return version
}

/** Throws STORE_ERROR for tables of a later Millrace. */
export function assertKnownVersion(version: number): void {
  if (version <= migrations.length) return
  const message = `The database has tables of version ${version}; this Millrace knows them up to ${migrations.length}.`
  throw new MillraceError('STORE_ERROR', message, { details: { version, known: migrations.length } })
}
