import type { Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { MillraceError } from '../../core/errors.js'
import type { Tool, ToolSource } from '../contract.js'
import { callMcpTool } from './mcp-call.js'
import { serverError } from './mcp-error.js'
import { createLink } from './mcp-link.js'
import { checkServer, describeServer, type McpServer } from './mcp-server.js'
import { untilAborted } from '../../core/until-aborted.js'

export interface McpToolsOptions {
  /** Stands before the name of every tool, to tell servers apart: `github_`. */
  readonly prefix?: string
  /** Offers these tools only. Names are those the server uses, without the prefix. */
  readonly include?: readonly string[]
  /** Offers all but these. */
  readonly exclude?: readonly string[]
  /** How long a call may go on without an answer or progress. Default 60 000. */
  readonly timeoutMs?: number
  /** How long a server may take to get ready. Default 60 000. */
  readonly connectTimeoutMs?: number
}

/** The tools of an MCP server. */
export interface McpToolSource extends ToolSource {
  /**
   * Ends the connection, and the process if there is one; calls that still go on fail. Until then an open connection
   * keeps the program running. A closed source cannot be used again.
   */
  close(): Promise<void>
}

/**
 * The tools of an MCP server, as a source for agents. The server is started or reached when its tools are first needed,
 * and all runs share that one connection. Its tools are listed once, and again when it says that they have changed.
 * Throws INVALID_AGENT when the server is not described well.
 *
 * A connection that was lost is opened again at the next use. A call that was going on then fails, and is not repeated,
 * since the server may have carried it out; only one that the server refused because it did not know the session any
 * more is repeated, once.
 *
 * @example
 * const files = mcpTools({ command: 'npx', args: ['-y', '@modelcontextprotocol/server-filesystem', '.'] })
 * const search = mcpTools({ url: 'https://example.com/mcp', headers: { authorization: `Bearer ${token}` } })
 * const agent = defineAgent({ name: 'librarian', model, tools: [files, search] })
 */
export function mcpTools(server: McpServer, options: McpToolsOptions = {}): McpToolSource {
  const { prefix = '', include, exclude = [], timeoutMs = 60_000, connectTimeoutMs = 60_000 } = options
  checkServer(server)
  const link = createLink(server, {
    timeoutMs: toTimeout('timeoutMs', timeoutMs),
    connectTimeoutMs: toTimeout('connectTimeoutMs', connectTimeoutMs),
  })

  function toTool({ name, title, description, inputSchema }: McpTool): Tool {
    return {
      name: toToolName(prefix + name),
      description: [description, title].find(Boolean) ?? name,
      parameters: inputSchema,
      call: (args, ctx) => callMcpTool({ link, server, name }, args, ctx),
    }
  }

  return {
    async tools({ signal }) {
      const listed = await untilAborted(listTools(), signal)
      const offered = listed.filter(
        ({ name }) => include?.includes(name) !== false && !exclude.includes(name),
      )
      const tools = offered.map(toTool)
      checkNames(tools, server)
      return tools
    },
    close: () => link.close(),
  }

  async function listTools(): Promise<readonly McpTool[]> {
    try {
      return await link.use((connection) => connection.listTools())
    } catch (error) {
      throw MillraceError.isInstance(error) ? error : serverError(server, 'does not list its tools', error)
    }
  }
}

// A longer one would fire at once.
const longestTimeout = 2 ** 31 - 1

function toTimeout(name: string, ms: number): number {
  if (ms > 0) return Math.min(ms, longestTimeout)
  throw new MillraceError('INVALID_AGENT', `\`${name}\` of an MCP server must be more than 0.`)
}

/** Servers may use names that models do not accept. */
function toToolName(name: string): string {
  return name.replaceAll(/[^A-Za-z0-9_-]/g, '_').slice(0, 64)
}

/** Tools of one name could not be told apart. */
function checkNames(tools: readonly Tool[], server: McpServer): void {
  const names = tools.map(({ name }) => name)
  const twice = names.find((name, index) => names.indexOf(name) !== index)
  if (twice === undefined) return
  const message = `${describeServer(server)} has two tools that would both be called '${twice}'. Leave one out with \`exclude\`.`
  throw new MillraceError('INVALID_AGENT', message)
}
