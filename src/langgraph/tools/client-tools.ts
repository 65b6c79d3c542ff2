import type { BaseMessage } from '@langchain/core/messages'
import { Command } from '@langchain/langgraph'
import type { AgentMiddleware } from 'langchain'
import { arrange, waitingCalls } from '../input/arrange.js'
import { readMessages } from '../input/to-agui.js'
import { askClient } from './ask-client.js'
import { getClientTools } from './get-client-tools.js'
import { runExtras, type HasConfigurable } from './run-extras.js'

export interface ClientToolsOptions {
  /**
   * Whether the graph waits in its place for a result. Otherwise a call ends the turn, as AG-UI has it, and the agent
   * starts again with the result. Needs a checkpointer; for agents that are a part of a larger graph. Default false.
   */
  readonly keepPosition?: boolean
}

/** What of the hooks' arguments is used here. */
interface ModelRequest {
  readonly tools: readonly unknown[]
  readonly runtime: HasConfigurable
}
interface ToolRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown }
  /** Undefined for a tool that the agent itself does not have. */
  readonly tool: unknown
  readonly runtime: HasConfigurable
}

/**
 * Middleware for `createAgent`: offers the tools of the client to the model, and leaves the calls of them to the client.
 * The agent's own tools that are called along with them run first. A tool of the agent hides one of the same name.
 *
 * @example
 * createAgent({ model, tools, middleware: [clientTools()] })
 */
export function clientTools({ keepPosition = false }: ClientToolsOptions = {}): AgentMiddleware {
  const hooks = {
    // What `createMiddleware` adds. `langchain` itself is not needed by graphs that are written by hand.
    [Symbol.for('AgentMiddleware')]: true,
    name: 'ClientTools',
    wrapModelCall: (request: ModelRequest, handler: (request: ModelRequest) => unknown) =>
      handler({ ...request, tools: withClientTools(request) }),
    wrapToolCall: (request: ToolRequest, handler: (request: ToolRequest) => unknown) => {
      const { toolCall, tool, runtime } = request
      const { id = '', name, args } = toolCall
      if (tool !== undefined || !isOffered(runtime, name)) return handler(request)
      return keepPosition ? askClient({ id, name, args }) : new Command({ update: { messages: [] } })
    },
    ...(keepPosition ? {} : { beforeModel: { canJumpTo: ['end'], hook: endTurn } }),
  }
  return hooks as unknown as AgentMiddleware
}

function withClientTools({ tools, runtime }: ModelRequest): unknown[] {
  const own = new Set(tools.map((one) => (one as { name?: unknown } | null)?.name))
  return [...tools, ...getClientTools(runtime).filter(({ name }) => !own.has(name))]
}

/** The model is not asked again before the client has answered. */
function endTurn(
  state: { messages: BaseMessage[] },
  runtime: HasConfigurable,
): { jumpTo: 'end' } | undefined {
  const isClientTool = (name: string): boolean => isOffered(runtime, name)
  return pendingCalls(state.messages, isClientTool).length > 0 ? { jumpTo: 'end' } : undefined
}

function isOffered(runtime: HasConfigurable, name: string): boolean {
  return runExtras(runtime).tools.some((offered) => offered.name === name)
}

/** The calls at the end of a graph's messages that a client has to answer. */
export function pendingCalls(messages: unknown, isClientTool: (name: string) => boolean): string[] {
  const open = waitingCalls(arrange(readMessages(messages).map(({ message }) => message)))
  return open.filter(({ name }) => isClientTool(name)).map(({ id }) => id)
}
