import { MillraceError } from '../../core/errors.js'
import { openConnection, type ConnectOptions, type McpConnection } from './mcp-connection.js'
import { isSessionLost } from './mcp-error.js'
import { describeServer, type McpServer } from './mcp-server.js'

/** The way to one server: a single connection, opened when it is first needed and again after it was lost. */
export interface McpLink {
  /**
   * Does work on the connection. When the server refuses it because it has forgotten the session, nothing was carried
   * out: it is done once more, on a new connection.
   */
  use<T>(work: (connection: McpConnection) => Promise<T>): Promise<T>
  /** For good: whoever comes later gets TOOL_ERROR. Never rejects. */
  close(): Promise<void>
}

interface Shared {
  readonly connection: Promise<McpConnection>
  users: number
}

/** Makes a link. Nothing is started or sent before the first use. */
export function createLink(server: McpServer, options: Omit<ConnectOptions, 'onUnfit'>): McpLink {
  /** The one that new work is given to. */
  let current: Shared | undefined
  /** That one, and those which still have work to finish. */
  const opened = new Set<Shared>()
  let isClosed = false

  function open(): Shared {
    if (isClosed) throw new MillraceError('TOOL_ERROR', `${describeServer(server)} has been closed.`)
    const retireThis = () => retire(shared)
    const connection = openConnection(server, { ...options, onUnfit: retireThis })
    const shared: Shared = { connection, users: 0 }
    connection.catch(retireThis)
    opened.add(shared)
    return shared
  }

  /** No new work for this one. It is closed when what goes on has ended. */
  function retire(shared: Shared): void {
    if (current === shared) current = undefined
    if (shared.users === 0 && opened.delete(shared)) void close(shared)
  }

  async function attempt<T>(work: (connection: McpConnection) => Promise<T>): Promise<T> {
    const shared = (current ??= open())
    shared.users += 1
    try {
      return await work(await shared.connection)
    } catch (error) {
      if (isSessionLost(error)) retire(shared)
      throw error
    } finally {
      shared.users -= 1
      if (current !== shared) retire(shared)
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
      await Promise.all([...opened].map(close))
      opened.clear()
    },
  }
}

async function close({ connection }: Shared): Promise<void> {
  // Who waits for the connection gets the error.
  const opened = await connection.catch(() => undefined)
  await opened?.close()
}
