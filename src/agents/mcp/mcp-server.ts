import { MillraceError } from '../../core/errors.js'

/** An MCP server that is started as a process and spoken to over its standard input and output. */
export interface McpCommand {
  /** What messages call it. */
  readonly name?: string
  readonly command: string
  readonly args?: readonly string[]
  /** Added to the few harmless variables (PATH, HOME, ...) that are passed on. Not shown in messages. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /**
   * Gets what the server writes to its standard error; the last of it also appears when the server fails to start.
   * Must not throw.
   */
  readonly onStderr?: (text: string) => void
  readonly url?: undefined
}

/** An MCP server that is reached by streamable HTTP. */
export interface McpUrl {
  /** What messages call it. */
  readonly name?: string
  readonly url: string | URL
  /** Sent with every request. Not shown in messages. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
  readonly command?: undefined
}

export type McpServer = McpCommand | McpUrl

/** Throws INVALID_AGENT when there is no way to start or reach such a server. */
export function checkServer(server: McpServer): void {
  if ((server.command === undefined) === (server.url === undefined))
    throw invalid('An MCP server needs either a `command` or a `url`.')
  if (server.command === '') throw invalid('The `command` of an MCP server is empty.')
  if (server.url === undefined) return
  // The message does not repeat the address: it may hold a password.
  if (!URL.canParse(String(server.url))) throw invalid('The `url` of an MCP server is not a URL.')
  const { protocol } = new URL(server.url)
  if (!/^https?:$/.test(protocol))
    throw invalid(`The \`url\` of an MCP server must be of http or https, not of ${protocol}`)
}

/** How messages name a server: never with arguments, credentials or a query, which may hold secrets. */
export function describeServer(server: McpServer): string {
  const name = server.name === undefined ? '' : ` '${server.name}'`
  if (server.url === undefined) return `MCP server${name} (command '${server.command}')`
  const { origin, pathname } = new URL(server.url)
  return `MCP server${name} (${origin}${pathname})`
}

/** The text without anything that was passed to the server in confidence. */
export function hideSecrets(text: string, server: McpServer): string {
  return secretsOf(server).reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text)
}

function secretsOf(server: McpServer): string[] {
  const values = Object.values((server.url === undefined ? server.env : server.headers) ?? {})
  if (server.url !== undefined) {
    const { password, search, searchParams } = new URL(server.url)
    const written = search.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1))
    values.push(password, ...written, ...searchParams.values())
  }
  return (
    values
      // `Bearer abc` may come back as `abc`.
      .flatMap((value) => [value, ...value.split(/\s+/)])
      // Short ones, `1` or `en`, are no secrets but parts of many words.
      .filter(({ length }) => length >= 4)
      .sort((a, b) => b.length - a.length)
  )
}

function invalid(message: string): MillraceError {
  return new MillraceError('INVALID_AGENT', message)
}
