import { createRequire } from 'node:module'
import { resolve } from 'node:path'
import process from 'node:process'
import { Worker } from 'node:worker_threads'
import { longestWaitMs } from './busy.js'
import { toStoreError } from './driver-errors.js'

/** A text and not a file, so that it also runs where sources are bundled or not compiled. */
const program = `
const { parentPort, workerData } = require('node:worker_threads')
const { path, driver, statements } = workerData
const Database = driver === undefined ? process.getBuiltinModule('node:sqlite').DatabaseSync : require(driver)
try {
  const database = new Database(path)
  try {
    parentPort.postMessage({ rows: statements.flatMap((sql) => database.prepare(sql).all()) })
  } finally {
    database.close()
  }
} catch ({ message, code, errcode }) {
  parentPort.postMessage({ error: { message, code, errcode } })
}`

interface Reply {
  readonly rows?: readonly SqlRow[]
  readonly error?: { readonly message: string }
}

export type SqlRow = Readonly<Record<string, unknown>>

/** Runs statements on a database, outside of a transaction, and returns their rows. */
export type RunStatements = (...statements: string[]) => Promise<readonly SqlRow[]>

/**
 * Returns a function that runs statements on a file in a thread and on a connection of their own: work on all of a file takes
 * seconds. It waits for other processes as the store does, and rejects with STORE_ERROR.
 */
export function runInThread(path: string): RunStatements {
  return async (...statements) => {
    const { rows = [], error } = await startThread({
      path: resolve(path),
      driver: driverFile(),
      // The copy that SQLite may need is as large as the file.
      statements: [`PRAGMA busy_timeout = ${longestWaitMs}`, 'PRAGMA temp_store = FILE', ...statements],
    })
    if (error) throw toStoreError(Object.assign(new Error(error.message), error))
    return rows
  }
}

function startThread(workerData: object): Promise<Reply> {
  return new Promise((settle, reject) => {
    const worker = new Worker(program, { eval: true, workerData })
    worker.once('message', settle)
    worker.once('error', reject)
    worker.once('exit', () => reject(new Error('The thread has ended too early.')))
  })
}

/** Undefined for the driver that Node has built in. */
function driverFile(): string | undefined {
  const hasOwn = process.getBuiltinModule('node:sqlite') !== undefined
  return hasOwn ? undefined : createRequire(import.meta.url).resolve('libsql')
}
