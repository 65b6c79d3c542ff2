import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { MillraceError } from '../../core/errors.js'
import type { Tool, ToolSource } from '../contract.js'
import { callMcpTool } from './mcp-call.js'
import { serverError } from './mcp-error.js'
import { createSharedConnection } from './shared-connection.js'
import { checkServer, describeServer, type McpServer } from './mcp-server.js'
import { untilAborted } from '../../core/abort.js'

export interface McpToolsOptions {
  /** Precedes the name of every tool, to tell servers apart, for example `github_`. */
  readonly prefix?: string
  /** Offers only these tools. Names are the server's, without the prefix. */
  readonly include?: readonly string[]
  /** Offers all but these. */
  readonly exclude?: readonly string[]
  /** The time a call may take without a response or progress. Default 60 000. */
  readonly timeoutMs?: number
  /** The time a server may take to get ready. Default 60 000. */
  readonly connectTimeoutMs?: number
}

export interface McpToolSource extends ToolSource {
  /**
   * Ends the connection, and the process if there is one; calls in progress fail. Until then an open connection keeps
   * the program running. A closed source cannot be used again.
   */
  close(): Promise<void>
}

/**
 * The tools of an MCP server, as a source for agents. The server is started or reached at the first use, and all runs
 * share one connection. The tools are listed once, and again when the server says that they have changed. Throws
 * INVALID_AGENT for an invalid description of the server.
 *
 * A lost connection is opened again at the next use. Calls in progress fail then, and are not repeated, since the server
 * may have carried them out; only a call that the server refused because it did not know the session is repeated, once.
 *
 * @example
 * const files = mcpTools({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const search = mcpTools({ url: 'https://example.com/mcp', headers: { authorization: `Bearer ${token}` } })
 * const agent = defineAgent({ name: 'librarian', model, tools: [files, search] })
 */
export function mcpTools(server: McpServer, options: McpToolsOptions = {}): McpToolSource {
  const { prefix = '', include, exclude = [], timeoutMs = 60_000, connectTimeoutMs = 60_000 } = options
  checkServer(server)
  const connection = createSharedConnection(server, {
    timeoutMs: toTimeout('timeoutMs', timeoutMs),
    connectTimeoutMs: toTimeout('connectTimeoutMs', connectTimeoutMs),
  })

  function toTool({ name, title, description, inputSchema }: McpTool): Tool {
    return {
      name: toToolName(prefix + name),
      description: [description, title].find(Boolean) ?? name,
      parameters: inputSchema,
      call: (args, ctx) => callMcpTool({ connection, server, name }, args, ctx),
    }
  }

  return {
    async tools({ signal }) {
      const listed = await untilAborted(listTools(), signal)
      const offered = listed.filter(
        ({ name }) => include?.includes(name) !== false && !exclude.includes(name),
      )
      const tools = offered.map(toTool)
      checkToolNames(tools, server)
      return tools
    },
    close: () => connection.close(),
  }

  async function listTools(): Promise<readonly McpTool[]> {
    try {
      return await connection.use((open) => open.listTools())
    } catch (error) {
      throw MillraceError.isInstance(error) ? error : serverError(server, 'does not list its tools', error)
    }
  }
}

// A longer timer would fire at once.
const maxTimeoutMs = 2 ** 31 - 1

function toTimeout(name: string, ms: number): number {
  if (ms > 0) return Math.min(ms, maxTimeoutMs)
  throw new MillraceError('INVALID_AGENT', `\`${name}\` of an MCP server must be more than 0.`)
}

/** Servers may use names that models refuse. */
function toToolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

function checkToolNames(tools: readonly Tool[], server: McpServer): void {
  const names = tools.map(({ name }) => name)
  const duplicate = names.find((name, index) => names.indexOf(name) !== index)
  if (duplicate === undefined) return
  const message = `${describeServer(server)} has two tools that would both be called '${duplicate}'. Leave one out with \`exclude\`.`
  throw new MillraceError('INVALID_AGENT', message)
}
