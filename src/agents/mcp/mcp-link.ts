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

/** Makes a link. Nothing is started or sent before the first use. */
export function createLink(server: McpServer, options: Omit<ConnectOptions, 'onClosed'>): McpLink {
  let current: Promise<McpConnection> | undefined
  let isClosed = false

  function connect(): Promise<McpConnection> {
    if (isClosed)
      return Promise.reject(new MillraceError('TOOL_ERROR', `${describeServer(server)} has been closed.`))
    if (current !== undefined) return current
    const forget = () => {
      if (current === mine) current = undefined
    }
    const mine: Promise<McpConnection> = openConnection(server, { ...options, onClosed: forget })
    mine.catch(forget)
    current = mine
    return mine
  }

  return {
    async use(work) {
      const connection = await connect()
      try {
        return await work(connection)
      } catch (error) {
        if (!isSessionLost(error)) throw error
        await connection.close()
        return work(await connect())
      }
    },
    async close() {
      isClosed = true
      // Who waits for the connection gets the error.
      const connection = await current?.catch(() => undefined)
      await connection?.close()
    },
  }
}
