import { MillraceError } from '../../core/errors.js'
import { checkGiven } from '../check-agent.js'

/** An MCP server that runs as a child process and is reached over its standard input and output. */
export interface McpCommand {
  /** Names the server in messages. */
  readonly name?: string
  readonly command: string
  readonly args?: readonly string[]
  /** Added to the few harmless variables (PATH, HOME, ...) that the process inherits. Not shown in messages. */
  readonly env?: Readonly<Record<string, string>>
  readonly cwd?: string
  /**
   * Gets the standard error of the server; its end also appears in the error when the server fails to start. Must not
   * throw.
   */
  readonly onStderr?: (text: string) => void
  readonly url?: undefined
}

/** An MCP server that is reached over streamable HTTP. */
export interface McpUrl {
  /** Names the server in messages. */
  readonly name?: string
  readonly url: string | URL
  /** Sent with every request. Not shown in messages. */
  readonly headers?: Readonly<Record<string, string>>
  readonly fetch?: typeof fetch
  readonly command?: undefined
}

export type McpServer = McpCommand | McpUrl

/** Throws INVALID_AGENT for a server without a usable command or URL. */
export function checkServer(server: McpServer): void {
  checkGiven('mcpTools', server, '{ url }')
  if ((server.command === undefined) === (server.url === undefined))
    throw invalidServer('An MCP server needs either a `command` or a `url`.')
  if (server.command === '') throw invalidServer('The `command` of an MCP server is empty.')
  if (server.url === undefined) return
  // The message does not repeat the URL: it may contain a password.
  if (!URL.canParse(String(server.url))) throw invalidServer('The `url` of an MCP server is not a URL.')
  const { protocol } = new URL(server.url)
  if (!/^https?:$/.test(protocol))
    throw invalidServer(`The \`url\` of an MCP server must be of http or https, not of ${protocol}`)
}

/** The server in messages: without arguments, credentials and query, which may contain secrets. */
export function describeServer(server: McpServer): string {
  const name = server.name === undefined ? '' : ` '${server.name}'`
  if (server.url === undefined) return `MCP server${name} (command '${server.command}')`
  const { origin, pathname } = new URL(server.url)
  return `MCP server${name} (${origin}${pathname})`
}

/** Removes the values of `env`, `headers`, password and query from a text. */
export function redactSecrets(text: string, server: McpServer): string {
  return findSecrets(server).reduce((hidden, secret) => hidden.replaceAll(secret, '***'), text)
}

function findSecrets(server: McpServer): string[] {
  const values = Object.values((server.url === undefined ? server.env : server.headers) ?? {})
  if (server.url !== undefined) {
    const { password, search, searchParams } = new URL(server.url)
    const encoded = search.split('&').map((pair) => pair.slice(pair.indexOf('=') + 1))
    values.push(password, ...encoded, ...searchParams.values())
  }
  return (
    values
      // A server may repeat `Bearer abc` as `abc`.
      .flatMap((value) => [value, ...value.split(/\s+/)])
      // Short values such as `1` or `en` are no secrets, but parts of many words.
      .filter(({ length }) => length >= 4)
      .sort((a, b) => b.length - a.length)
  )
}

function invalidServer(message: string): MillraceError {
  return new MillraceError('INVALID_AGENT', message)
}
