import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'

/** SQLite's result codes. Extended ones have more in their upper bits. */
const codes = { SQLITE_BUSY: 5, SQLITE_CORRUPT: 11, SQLITE_NOTADB: 26 }

/** Each driver says in its own way what SQLite returned. */
function isOf(error: unknown, name: keyof typeof codes): boolean {
  const raw = MillraceError.isInstance(error) ? error.cause : error
  if (!isRecord(raw)) return false
  const { code, errcode } = raw
  if (typeof code === 'string' && code.startsWith(name)) return true
  return typeof errcode === 'number' && (errcode & 0xff) === codes[name]
}

/** Whether another process holds the file. */
export function isBusy(error: unknown): boolean {
  return isOf(error, 'SQLITE_BUSY')
}

/** Whether the file is not what SQLite has written. */
export function isDamaged(error: unknown): boolean {
  return isOf(error, 'SQLITE_CORRUPT') || isOf(error, 'SQLITE_NOTADB')
}

/** Makes any error of a driver a STORE_ERROR that says what to do. */
export function toStoreError(error: unknown): MillraceError {
  if (MillraceError.isInstance(error)) return error
  const reason = error instanceof Error ? error.message : String(error)
  if (isBusy(error)) {
    const message = 'Another process has been writing to the thread store for too long. Try again.'
    return new MillraceError('STORE_ERROR', message, { cause: error, expose: true })
  }
  if (isDamaged(error)) return damagedFile(reason, error)
  return new MillraceError('STORE_ERROR', `The SQLite store cannot be used: ${reason}`, { cause: error })
}

export function damagedFile(reason: string, cause?: unknown): MillraceError {
  const message = `The SQLite file is damaged: ${reason}. Stop all its users, keep a copy of it, and restore a backup (docs/guides/backup.md).`
  return new MillraceError('STORE_ERROR', message, cause === undefined ? {} : { cause })
}
