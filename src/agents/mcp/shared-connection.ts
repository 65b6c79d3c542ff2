import { MillraceError } from '../../core/errors.js'
import { openConnection, type McpConnectOptions, type McpConnection } from './mcp-connection.js'
import { isSessionLost } from './mcp-error.js'
import { describeServer, type McpServer } from './mcp-server.js'

/** A single connection to a server for all runs: opened at the first use, and again after a loss. */
export interface SharedConnection {
  /**
   * Does work on the connection. If the server refuses the work because it does not know the session any more, nothing
   * was carried out: the work is done once more, on a new connection.
   */
  use<T>(work: (connection: McpConnection) => Promise<T>): Promise<T>
  /** Closes for good: later uses throw TOOL_ERROR. Never rejects. */
  close(): Promise<void>
}

interface ConnectionEntry {
  readonly connection: Promise<McpConnection>
  users: number
}

/** Starts and sends nothing before the first use. */
export function createSharedConnection(
  server: McpServer,
  options: Omit<McpConnectOptions, 'onUnusable'>,
): SharedConnection {
  /** The connection for new work. */
  let current: ConnectionEntry | undefined
  /** The current one, and those that still have work to finish. */
  const opened = new Set<ConnectionEntry>()
  let isClosed = false

  function open(): ConnectionEntry {
    if (isClosed) throw new MillraceError('TOOL_ERROR', `${describeServer(server)} has been closed.`)
    const retireEntry = () => retire(entry)
    const connection = openConnection(server, { ...options, onUnusable: retireEntry })
    const entry: ConnectionEntry = { connection, users: 0 }
    connection.catch(retireEntry)
    opened.add(entry)
    return entry
  }

  /** Sends the connection no more work, and closes it once its work has ended. */
  function retire(entry: ConnectionEntry): void {
    if (current === entry) current = undefined
    if (entry.users === 0 && opened.delete(entry)) void closeEntry(entry)
  }

  async function attempt<T>(work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const entry = (current ??= open())
    entry.users += 1
    try {
      return await work(await entry.connection)
    } catch (error) {
      if (isSessionLost(error)) retire(entry)
      throw error
    } finally {
      entry.users -= 1
      if (current !== entry) retire(entry)
    }
  }

  return {
    async use(work) {
      try {
        return await attempt(work)
      } catch (error) {
        if (!isSessionLost(error)) throw error
        return attempt(work)
      }
    },
    async close() {
      isClosed = true
      current = undefined
      await Promise.all([...opened].map(closeEntry))
      opened.clear()
    },
  }
}

async function closeEntry({ connection }: ConnectionEntry): Promise<void> {
  // The users of the connection get the error.
  const opened = await connection.catch(() => undefined)
  await opened?.close()
}
