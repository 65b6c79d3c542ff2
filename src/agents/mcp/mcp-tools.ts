import type { ContentPart } from '@ag-ui/core'
import type {
  CallToolResult,
  ContentBlock,
  EmbeddedResource,
  Tool as McpTool,
} from '@modelcontextprotocol/sdk/types.js'
import { linkAbort, untilAborted } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord, parseJson } from '../../core/json.js'
import type { Tool, ToolContext, ToolSource } from '../contract.js'
import { contentResult } from '../tools/tool-result.js'
import { callError, serverError } from './mcp-error.js'
import { checkServer, describeServer, type McpServer } from './mcp-server.js'
import { createSharedConnection, type SharedConnection } from './shared-connection.js'

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

/** The progress of a call, as the server reports it and the tool yields it. */
interface McpProgress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

interface McpToolHandle {
  readonly connection: SharedConnection
  readonly server: McpServer
  /** The server's name for it, without a prefix. */
  readonly name: string
}

/**
 * Calls a tool of a server. Yields its progress, only the latest if it comes faster than it is read. The server checks
 * the arguments. An abort, or leaving the stream, cancels the call on the server.
 */
async function* callMcpTool(
  tool: McpToolHandle,
  args: unknown,
  ctx: ToolContext,
): AsyncGenerator<McpProgress, unknown> {
  if (!isRecord(args))
    throw new MillraceError(
      'INVALID_TOOL_ARGUMENTS',
      `The arguments of tool '${tool.name}' must be an object.`,
    )
  // A signal of its own: the SDK never stops listening to it, and would cancel calls that are long over.
  const stop = new AbortController()
  const { signal } = stop
  const release = linkAbort(ctx.signal, stop)
  const call = watchProgress((onProgress) =>
    untilAborted(
      tool.connection.use((open) => open.callTool({ name: tool.name, args, signal, onProgress })),
      signal,
    ),
  )
  try {
    for (let progress = await call.next(); progress !== undefined; progress = await call.next())
      yield progress
    return fromCallResult(await call.result)
  } catch (error) {
    throw signal.aborted ? error : callError(tool.server, tool.name, error)
  } finally {
    release()
    if (!call.isOver) stop.abort()
  }
}

interface ProgressWatch<T> {
  readonly result: Promise<T>
  readonly isOver: boolean
  /** Resolves with the latest progress that was not read yet; undefined once there is a result. Never rejects. */
  next(): Promise<McpProgress | undefined>
}

function watchProgress<T>(
  start: (onProgress: (progress: McpProgress) => void) => Promise<T>,
): ProgressWatch<T> {
  const state: { latest?: McpProgress | undefined; isOver: boolean; wake?: () => void } = { isOver: false }
  const result = start((progress) => {
    state.latest = progress
    state.wake?.()
  })
  const end = () => {
    state.isOver = true
    state.wake?.()
  }
  result.then(end, end)
  return {
    result,
    get isOver() {
      return state.isOver
    },
    async next() {
      if (state.latest === undefined && !state.isOver)
        await new Promise<void>((resolve) => {
          state.wake = resolve
        })
      const { latest } = state
      state.latest = undefined
      return latest
    },
  }
}

/**
 * Converts the result of a call: text into a string, structured content as it is, media and mixtures into parts. Throws
 * TOOL_ERROR with the server's message if the server reports a failure.
 */
export function fromCallResult({ content, structuredContent, isError }: CallToolResult): unknown {
  if (isError === true)
    throw new MillraceError(
      'TOOL_ERROR',
      joinTextParts(content.map(toContentPart)) || 'The tool failed without saying why.',
    )
  if (structuredContent === undefined) return toToolResult(content.map(toContentPart))
  // For older clients, servers repeat the structured content as text.
  const json = JSON.stringify(structuredContent)
  const others = content.filter((block) => !isCopyOf(block, json))
  return others.length === 0
    ? structuredContent
    : toToolResult([...others.map(toContentPart), { type: 'text', text: json }])
}

function toToolResult(parts: readonly ContentPart[]): unknown {
  return parts.every(({ type }) => type === 'text') ? joinTextParts(parts) : contentResult(parts)
}

function joinTextParts(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}

function isCopyOf(block: ContentBlock, json: string): boolean {
  return block.type === 'text' && JSON.stringify(parseJson(block.text)) === json
}

function toContentPart(block: ContentBlock): ContentPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'image':
    case 'audio':
      return { type: block.type, source: { type: 'data', value: block.data, mimeType: block.mimeType } }
    case 'resource_link':
      // Only the server can read it; the model can at least mention it.
      return { type: 'text', text: `${block.title ?? block.name}: ${block.uri}` }
    case 'resource':
      return toResourcePart(block.resource)
  }
}

function toResourcePart(resource: EmbeddedResource['resource']): ContentPart {
  if ('text' in resource) return { type: 'text', text: resource.text }
  const { blob, mimeType = 'application/octet-stream' } = resource
  return { type: mediaKind(mimeType), source: { type: 'data', value: blob, mimeType } }
}

function mediaKind(mimeType: string): 'image' | 'audio' | 'video' | 'document' {
  const [kind] = mimeType.split('/')
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'document'
}
