import type { ContentPart } from '@ag-ui/core'
import type { CallToolResult, ContentBlock, EmbeddedResource } from '@modelcontextprotocol/sdk/types.js'
import { linkAbort, untilAborted } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/is-record.js'
import { parseJson } from '../../core/json.js'
import type { ToolContext } from '../contract.js'
import { contentResult } from '../tools/tool-result.js'
import { callError } from './mcp-error.js'
import type { McpServer } from './mcp-server.js'
import type { SharedConnection } from './shared-connection.js'

/** The progress of a call, as the server reports it and the tool yields it. */
export interface McpProgress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface McpToolHandle {
  readonly connection: SharedConnection
  readonly server: McpServer
  /** The server's name for it, without a prefix. */
  readonly name: string
}

/**
 * Calls a tool of a server. Yields its progress, only the latest if it comes faster than it is read. The server checks
 * the arguments. An abort, or leaving the stream, cancels the call on the server.
 */
export async function* callMcpTool(
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
