import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { CallToolResult, Progress, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { isSignOfLife, serverError } from './mcp-error.js'
import type { McpServer } from './mcp-server.js'
import { createToolList } from './mcp-tool-list.js'
import { createTransport } from './mcp-transport.js'

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

/** Starts or reaches a server. Rejects with TOOL_ERROR, which says why not. Loads the MCP SDK, which is large. */
export async function openConnection(
  server: McpServer,
  { timeoutMs, connectTimeoutMs, onClosed }: ConnectOptions,
): Promise<McpConnection> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { CallToolResultSchema, ToolListChangedNotificationSchema } =
    await import('@modelcontextprotocol/sdk/types.js')
  const way = await createTransport(server)
  const client = new Client({ name: 'millrace', version: '1' })
  const tools = createToolList(client, timeoutMs)
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => tools.forget())
  client.onclose = onClosed
  try {
    await client.connect(way.transport, { timeout: connectTimeoutMs })
  } catch (error) {
    const verb = server.url === undefined ? 'started' : 'reached'
    // Why a process ended is rarely said by anyone but itself.
    throw serverError(server, `cannot be ${verb}`, error, way.lastWords())
  }
  if (!way.reportsLoss) closeWhenDead(client, () => tools.forget())

  return {
    listTools: () => tools.get(),
    callTool({ name, args, signal, onProgress }) {
      const request = { method: 'tools/call' as const, params: { name, arguments: args } }
      // Not `client.callTool`: that checks the result as well, and fails where a model could still have read it.
      return client.request(request, CallToolResultSchema, {
        signal,
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        onprogress: onProgress,
      })
    },
    async close() {
      await way.endSession()
      await client.close()
    },
  }
}

/**
 * Over HTTP an error may mean that the server is gone, and with it the streams that would bring its answers; the SDK
 * would wait for them until they time out. So ask for a sign of life. Notifications may have been lost as well.
 */
function closeWhenDead(client: Client, forgetTools: () => void): void {
  let isAsking = false
  client.onerror = () => {
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
