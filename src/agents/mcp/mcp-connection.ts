import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import type { CallToolResult, Progress, Tool as McpTool } from '@modelcontextprotocol/sdk/types.js'
import { systemClock } from '../../core/clock.js'
import { isRequestFailure, isServerResponse, serverError } from './mcp-error.js'
import type { McpCommand, McpServer, McpUrl } from './mcp-server.js'

/** One open connection to a server. Its promises reject with the errors of the SDK. */
export interface McpConnection {
  /** All tools of the server. Listed once, and again when the server says that they have changed. */
  listTools(): Promise<readonly McpTool[]>
  callTool(call: McpCall): Promise<CallToolResult>
  /** Calls in progress fail. Never rejects; may be called twice. */
  close(): Promise<void>
}

interface McpCall {
  readonly name: string
  readonly args: Record<string, unknown>
  /** An abort is passed on to the server. */
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
}

export interface McpConnectOptions {
  readonly timeoutMs: number
  readonly connectTimeoutMs: number
  /** Called when the connection has ended or should get no more work. May be called more than once. */
  readonly onUnusable: () => void
}

/** Starts or reaches a server; rejects with TOOL_ERROR if it cannot. Loads the MCP SDK, which is large. */
export async function openConnection(
  server: McpServer,
  { timeoutMs, connectTimeoutMs, onUnusable }: McpConnectOptions,
): Promise<McpConnection> {
  const { Client } = await import('@modelcontextprotocol/sdk/client/index.js')
  const { CallToolResultSchema, ToolListChangedNotificationSchema } =
    await import('@modelcontextprotocol/sdk/types.js')
  const transport = await createTransport(server)
  const client = new Client({ name: 'millrace', version: '1' })
  const tools = createToolListCache(client, timeoutMs)
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => tools.clear())
  client.onclose = onUnusable
  try {
    await client.connect(transport.sdk, { timeout: connectTimeoutMs })
  } catch (error) {
    const verb = server.url === undefined ? 'started' : 'reached'
    // A process that fails to start usually says why on its standard error.
    throw serverError(server, `cannot be ${verb}`, error, transport.stderrTail())
  }
  if (!transport.reportsLoss) client.onerror = createErrorHandler(client, tools, onUnusable)

  return {
    listTools: () => tools.get(),
    callTool({ name, args, signal, onProgress }) {
      const request = { method: 'tools/call' as const, params: { name, arguments: args } }
      // Not `client.callTool`: it validates the result too, and fails where a model could still have read it.
      return client.request(request, CallToolResultSchema, {
        signal,
        timeout: timeoutMs,
        resetTimeoutOnProgress: true,
        onprogress: onProgress,
      })
    },
    async close() {
      await transport.endSession()
      await client.close()
    },
  }
}

/**
 * Handles errors over HTTP. The SDK reports broken streams, but leaves the calls that wait for their responses to time
 * out. So this pings the server, and closes the connection if there is no response.
 */
function createErrorHandler(
  client: Client,
  tools: ToolListCache,
  onUnusable: () => void,
): (error: Error) => void {
  let isPinging = false
  return (error) => {
    // The sender of a failed request gets the error anyway.
    if (isRequestFailure(error)) return
    // A notification may have been lost.
    tools.clear()
    // This connection gets no more notifications; a new one would.
    if (error.message.startsWith('Maximum reconnection attempts')) onUnusable()
    if (isPinging) return
    isPinging = true
    client
      .ping()
      .catch(async (failure: unknown) => {
        if (!isServerResponse(failure)) await client.close()
      })
      .finally(() => {
        isPinging = false
      })
  }
}

interface ToolListCache {
  /** Lists the tools at the first call, and again after a rejection. */
  get(): Promise<readonly McpTool[]>
  /** The tools may have changed: the next `get` lists them again. */
  clear(): void
}

function createToolListCache(client: Client, timeoutMs: number): ToolListCache {
  let listed: Promise<readonly McpTool[]> | undefined
  return {
    get() {
      if (listed !== undefined) return listed
      const pending = listAllTools(client, timeoutMs)
      pending.catch(() => {
        if (listed === pending) listed = undefined
      })
      listed = pending
      return pending
    },
    clear() {
      listed = undefined
    },
  }
}

async function listAllTools(client: Client, timeout: number): Promise<readonly McpTool[]> {
  if (client.getServerCapabilities()?.tools === undefined) return []
  const { ListToolsResultSchema } = await import('@modelcontextprotocol/sdk/types.js')
  const tools: McpTool[] = []
  const cursors = new Set<string>()
  for (let cursor: string | undefined; ;) {
    const params = cursor === undefined ? {} : { cursor }
    // Not `client.listTools`: it compiles all output schemas, and one broken schema would lose all tools.
    const page = await client.request({ method: 'tools/list', params }, ListToolsResultSchema, { timeout })
    // Tools that only run as tasks, an experiment of the protocol, cannot be called.
    tools.push(...page.tools.filter(({ execution }) => execution?.taskSupport !== 'required'))
    cursor = page.nextCursor
    if (cursor === undefined) return tools
    if (cursors.has(cursor)) throw new Error(`the list does not end, it comes back to '${cursor}'`)
    cursors.add(cursor)
  }
}

/** Not opened yet. */
interface McpTransport {
  readonly sdk: Transport
  /** Whether it reports the loss of the connection. Over HTTP a loss shows only when something is sent. */
  readonly reportsLoss: boolean
  /** The end of what the process wrote to its standard error. */
  stderrTail(): string
  /** Tells the server that the session is over. Never rejects, and does not wait for long. */
  endSession(): Promise<void>
}

function createTransport(server: McpServer): Promise<McpTransport> {
  return server.url === undefined ? stdioTransport(server) : httpTransport(server)
}

const maxStderrTail = 300

async function stdioTransport({ command, args, env, cwd, onStderr }: McpCommand): Promise<McpTransport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const transport = new StdioClientTransport({
    command,
    stderr: 'pipe',
    ...(args === undefined ? {} : { args: [...args] }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  })
  let stderr = ''
  transport.stderr?.on('data', (chunk) => {
    const text = String(chunk)
    stderr = (stderr + text).slice(-maxStderrTail)
    onStderr?.(text)
  })
  return {
    sdk: transport,
    reportsLoss: true,
    stderrTail: () => stderr.trim(),
    endSession: () => Promise.resolve(),
  }
}

const endSessionTimeoutMs = 1000

async function httpTransport({ url, headers, fetch }: McpUrl): Promise<McpTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    ...(headers === undefined ? {} : { requestInit: { headers } }),
    ...(fetch === undefined ? {} : { fetch }),
  })
  return {
    sdk: transport,
    reportsLoss: false,
    stderrTail: () => '',
    endSession: () =>
      new Promise((resolve) => {
        const cancel = systemClock.schedule(endSessionTimeoutMs, resolve)
        const end = () => {
          cancel()
          resolve()
        }
        // A server that cannot be reached drops the session by itself.
        transport.terminateSession().then(end, end)
      }),
  }
}
