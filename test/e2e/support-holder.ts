import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { onTestFinished } from 'vitest'

/** What the process does: holds the file from its first line on until it reads one. */
const program = `
const Database = require('libsql')
const database = new Database(process.argv[1])
database.exec('BEGIN IMMEDIATE')
console.log('held')
process.stdin.once('data', () => {
  database.exec('ROLLBACK')
  database.close()
  process.exit()
})`

/** Starts a process that keeps all others from writing to a database. Returns what makes it let go. */
export async function holdFile(path: string): Promise<() => Promise<void>> {
  const child = spawn(process.execPath, ['-e', program, path], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'exit')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  await Promise.race([
    once(child.stdout, 'data'),
    ended.then(() => Promise.reject(new Error('The process has not held the file.'))),
  ])
  return async () => {
    child.stdin.write('\n')
    await ended
  }
}
