import { linkAbort } from '../../core/abort.js'
import { MillraceError } from '../../core/errors.js'
import type { ToolContext } from '../contract.js'
import { callError } from './mcp-error.js'
import type { McpLink } from './mcp-link.js'
import { fromCallResult } from './mcp-result.js'
import type { McpServer } from './mcp-server.js'
import { untilAborted } from '../../core/until-aborted.js'

/** What a server tells about a call it is at, as the tool yields it. */
export interface McpProgress {
  readonly progress: number
  readonly total?: number | undefined
  readonly message?: string | undefined
}

export interface McpToolRef {
  readonly link: McpLink
  readonly server: McpServer
  /** As the server calls it. */
  readonly name: string
}

/**
 * Calls a tool of a server. Yields its progress; when that comes faster than it is read, only the latest. The arguments
 * are checked by the server. An abort, or leaving the stream, cancels the call there.
 */
export async function* callMcpTool(
  tool: McpToolRef,
  args: unknown,
  ctx: ToolContext,
): AsyncGenerator<McpProgress, unknown> {
  if (!isArguments(args))
    throw new MillraceError(
      'INVALID_TOOL_ARGUMENTS',
      `The arguments of tool '${tool.name}' must be an object.`,
    )
  // Of its own, since the SDK would go on listening to it and cancel calls that are long over.
  const stop = new AbortController()
  const { signal } = stop
  const release = linkAbort(ctx.signal, stop)
  const call = watch((onProgress) =>
    untilAborted(
      tool.link.use((connection) => connection.callTool({ name: tool.name, args, signal, onProgress })),
      signal,
    ),
  )
  try {
    for (let news = await call.news(); news !== undefined; news = await call.news()) yield news
    return fromCallResult(await call.result)
  } catch (error) {
    throw signal.aborted ? error : callError(tool.server, tool.name, error)
  } finally {
    release()
    if (!call.isOver) stop.abort()
  }
}

interface Watched<T> {
  readonly result: Promise<T>
  readonly isOver: boolean
  /** The latest progress not yet told, as soon as there is some; nothing when the result is there. Never rejects. */
  news(): Promise<McpProgress | undefined>
}

function watch<T>(start: (onProgress: (progress: McpProgress) => void) => Promise<T>): Watched<T> {
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
    async news() {
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

function isArguments(args: unknown): args is Record<string, unknown> {
  return typeof args === 'object' && args !== null && !Array.isArray(args)
}
