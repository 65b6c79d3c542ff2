import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { systemClock } from '../../core/clock.js'
import type { McpCommand, McpServer, McpUrl } from './mcp-server.js'

/** A way to a server, not yet opened. */
export interface McpTransport {
  readonly transport: Transport
  /** Whether a lost connection makes itself known. Over HTTP it shows only when something is sent. */
  readonly reportsLoss: boolean
  /** The last that a process wrote to its standard error. */
  lastWords(): string
  /** Tells the server that no more will come. Never rejects, and does not wait for long. */
  endSession(): Promise<void>
}

/** Prepares the way to a server. */
export function createTransport(server: McpServer): Promise<McpTransport> {
  return server.url === undefined ? stdioTransport(server) : httpTransport(server)
}

const longestLastWords = 300

async function stdioTransport({ command, args, env, cwd, onStderr }: McpCommand): Promise<McpTransport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/sdk/client/stdio.js')
  const transport = new StdioClientTransport({
    command,
    stderr: 'pipe',
    ...(args === undefined ? {} : { args: [...args] }),
    ...(env === undefined ? {} : { env }),
    ...(cwd === undefined ? {} : { cwd }),
  })
  let lastWords = ''
  transport.stderr?.on('data', (chunk) => {
    const text = String(chunk)
    lastWords = (lastWords + text).slice(-longestLastWords)
    onStderr?.(text)
  })
  return {
    transport,
    reportsLoss: true,
    lastWords: () => lastWords.trim(),
    endSession: () => Promise.resolve(),
  }
}

const longestGoodbyeMs = 1000

async function httpTransport({ url, headers, fetch }: McpUrl): Promise<McpTransport> {
  const { StreamableHTTPClientTransport } = await import('@modelcontextprotocol/sdk/client/streamableHttp.js')
  const transport = new StreamableHTTPClientTransport(new URL(url), {
    ...(headers === undefined ? {} : { requestInit: { headers } }),
    ...(fetch === undefined ? {} : { fetch }),
  })
  return {
    transport,
    reportsLoss: false,
    lastWords: () => '',
    endSession: () =>
      new Promise((resolve) => {
        const cancel = systemClock.schedule(longestGoodbyeMs, resolve)
        const end = () => {
          cancel()
          resolve()
        }
        // A server that cannot be told forgets the session by itself.
        transport.terminateSession().then(end, end)
      }),
  }
}
