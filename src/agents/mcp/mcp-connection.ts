import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { CallToolResult, Progress, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { isRequestFailure, isSignOfLife, serverError } from './mcp-error.js'
import type { McpServer } from './mcp-server.js'
import { createToolList, type McpToolList } from './mcp-tool-list.js'
import { createTransport } from './mcp-transport.js'

/** One open connection to a server. Rejects with what the SDK throws. */
export interface McpConnection {
  /** All tools of the server. Asked for once, and again when the server says that they have changed. */
  listTools(): Promise<readonly McpTool[]>
  callTool(call: McpCall): Promise<CallToolResult>
  /** Fails what is still going on. Never rejects, and closing twice does no harm. */
  close(): Promise<void>
}

interface McpCall {
  readonly name: string
  readonly args: Record<string, unknown>
  /** An abort is passed on to the server. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

export interface ConnectOptions {
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  /** Called when the connection has ended or is no longer good for new work. More than once, maybe. */
  readonly onUnfit: () => void
}

/** Starts or reaches a server. Rejects with TOOL_ERROR, which says why not. Loads the MCP SDK, which is large. */
export async function openConnection(
  server: McpServer,
  { timeoutMs, connectTimeoutMs, onUnfit }: ConnectOptions,
): Promise<McpConnection> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { CallToolResultSchema, ToolListChangedNotificationSchema } =
    await import('@modelcontextprotocol/sdk/types.js')
  const way = await createTransport(server)
  const client = new Client({ name: 'millrace', version: '1' })
  const tools = createToolList(client, timeoutMs)
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => tools.forget())
  client.onclose = onUnfit
  try {
    await client.connect(way.transport, { timeout: connectTimeoutMs })
  } catch (error) {
    const verb = server.url === undefined ? 'started' : 'reached'
    // Why a process ended is rarely said by anyone but itself.
    throw serverError(server, `cannot be ${verb}`, error, way.lastWords())
  }
  if (!way.reportsLoss) client.onerror = reactToLoss(client, tools, onUnfit)

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
 * What to do about errors over HTTP. The SDK reports broken streams, but lets the calls whose answers they were to bring
 * wait until they time out. So when it does, the server is asked for a sign of life.
 */
function reactToLoss(client: Client, tools: McpToolList, onUnfit: () => void): (error: Error) => void {
  let isAsking = false
  return (error) => {
    // Whoever sent a request that failed is told so anyway.
    if (isRequestFailure(error)) return
    // A notification may have been lost.
    tools.forget()
    // There will be none any more; a new connection would have them.
    if (error.message.startsWith('Maximum reconnection attempts')) onUnfit()
    if (isAsking) return
    isAsking = true
    client
      .ping()
      .catch(async (failure: unknown) => {
        if (!isSignOfLife(failure)) await client.close()
      })
      .finally(() => {
        isAsking = false
      })
  }
}
