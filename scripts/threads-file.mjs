/**
 * Backs up and restores a SQLite file of threads: `node scripts/threads-file.mjs backup data/threads.db backups/monday.db`.
 */
import { existsSync } from 'node:fs'
import { backupSqlite, createSqliteStore, restoreSqlite } from 'millrace/sqlite'

const help = `Looks after a SQLite file of threads.

  node scripts/threads-file.mjs backup <file> <backup>     copies it, also while servers use it
  node scripts/threads-file.mjs restore <backup> <file>    checks a backup and puts it in its place; stop the servers first
  node scripts/threads-file.mjs compact <file>             removes all traces of what was deleted, and unused room`

const commands = {
  backup: (from, to) => to && backupSqlite({ from, to }),
  restore: (from, to) => to && restoreSqlite({ from, to }),
  async compact(path) {
    if (!existsSync(path)) throw new Error(`There is no file ${path}.`)
    const store = await createSqliteStore({ path })
    await store.compact().finally(() => store.close())
  },
}

const [name, from, to] = process.argv.slice(2)
const command = from && Object.hasOwn(commands, name) ? commands[name] : undefined
try {
  const done = command?.(from, to)
  if (!done) throw new Error(help)
  await done
  console.log('Done.')
} catch (error) {
  console.error(error.message)
  process.exitCode = 1
}
