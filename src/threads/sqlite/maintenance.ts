import { MillraceError } from '../../core/errors.js'
import { copyDatabase } from './backup.js'
import type { RunStatements } from './file-thread.js'

/** Work on all of a database. */
export interface Maintenance {
  /**
   * Writes the file again without what was deleted from it, and empties its log: afterwards nothing of a removed thread is left
   * in any of its files. Writes wait meanwhile, as for another process. Rejects with STORE_ERROR.
   */
  compact(): Promise<void>
  /**
   * Copies everything to a new file, as of one moment, while the store reads and writes. The copy is checked before it gets its
   * name. Rejects with STORE_ERROR if there is a file of that name already.
   */
  backup(path: string): Promise<void>
}

export function createMaintenance(
  run: RunStatements,
): Maintenance & { readonly settled: () => Promise<void> } {
  let last: Promise<void> = Promise.resolve()
  /** One after the other: each needs the disk for itself. */
  const inTurn = (work: () => Promise<void>): Promise<void> => (last = last.then(work, work))
  return {
    compact: () => inTurn(() => compact(run)),
    backup: (path) => inTurn(() => copyDatabase(run, path)),
    settled: () => last.catch(() => undefined),
  }
}

async function compact(run: RunStatements): Promise<void> {
  const rows = await run('VACUUM', 'PRAGMA wal_checkpoint(TRUNCATE)')
  if (Number(rows.at(-1)?.busy) === 0) return
  const message = 'Another process reads the thread store, so its log could not be emptied. Compact it again.'
  throw new MillraceError('STORE_ERROR', message)
}
