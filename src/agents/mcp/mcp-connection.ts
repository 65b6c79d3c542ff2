import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { CallToolResult, Progress, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { isSignOfLife, serverError } from './mcp-error.js'
import type { McpServer } from './mcp-server.js'
import { createTransport, type McpTransport } from './mcp-transport.js'

/** One open connection to a server. Rejects with what the SDK throws. */
export interface McpConnection {
  /** All tools of the server. Asked for once, and again when the server says that they have changed. */
  listTools(): Promise<readonly McpTool[]>
  callTool(call: McpCall): Promise<CallToolResult>
  /** Fails what is still going on. Never rejects, and closing twice does no harm. */
  close(): Promise<void>
}

export interface McpCall {
  readonly name: string
  readonly args: Record<string, unknown>
  /** An abort is passed on to the server. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

export interface ConnectOptions {
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  /** Called when the connection is over, for whatever reason. */
  readonly onClosed: () => void
}

/** Starts or reaches a server. Rejects with TOOL_ERROR, which says why not. */
export async function openConnection(server: McpServer, options: ConnectOptions): Promise<McpConnection> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const way = await createTransport(server)
  const client = new Client({ name: 'millrace', version: '1' })
  client.onclose = options.onClosed
  try {
    await client.connect(way.transport, { timeout: options.connectTimeoutMs })
  } catch (error) {
    const verb = server.url === undefined ? 'started' : 'reached'
    // Why a process ended is rarely said by anyone but itself.
    throw serverError(server, `cannot be ${verb}`, error, way.lastWords())
  }
  return onClient(client, way, options)
}

async function onClient(
  client: Client,
  way: McpTransport,
  { timeoutMs }: ConnectOptions,
): Promise<McpConnection> {
  const { CallToolResultSchema, ToolListChangedNotificationSchema } =
    await import('@modelcontextprotocol/sdk/types.js')
  let listed: Promise<readonly McpTool[]> | undefined
  const forgetTools = () => {
    listed = undefined
  }
  client.setNotificationHandler(ToolListChangedNotificationSchema, forgetTools)
  if (!way.reportsLoss) client.onerror = closeWhenDead(client, forgetTools)

  return {
    listTools() {
      if (listed !== undefined) return listed
      const mine = listAll(client, timeoutMs)
      listed = mine
      mine.catch(() => {
        if (listed === mine) forgetTools()
      })
      return mine
    },
    callTool({ name, args, signal, onProgress }) {
      // Not `client.callTool`: that also checks the result, and fails where a model could still have read it.
      return client.request(
        { method: 'tools/call', params: { name, arguments: args } },
        CallToolResultSchema,
        {
          signal,
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          onprogress: onProgress,
        },
      )
    },
    async close() {
      await way.endSession()
      await client.close()
    },
  }
}

async function listAll(client: Client, timeout: number): Promise<readonly McpTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const tools: McpTool[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? {} : { cursor }
    const page = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, { timeout })
    tools.push(...page.tools)
    cursor = page.nextCursor
    if (cursor === undefined) return tools
    if (cursors.has(cursor)) throw new Error(`the list does not end, it comes back to '${cursor}'`)
    cursors.add(cursor)
  }
}

/**
 * Over HTTP an error may mean that the server is gone, and with it the streams that would bring its answers; the SDK
 * would wait for them until they time out. So ask the server for a sign of life. A notification may be lost as well.
 */
function closeWhenDead(client: Client, forgetTools: () => void): () => void {
  let isAsking = false
  return () => {
    forgetTools()
    if (isAsking) return
    isAsking = true
    client
      .ping()
      .catch(async (error: unknown) => {
        if (!isSignOfLife(error)) await client.close()
      })
      .finally(() => {
        isAsking = false
      })
  }
}
