import type { ToolMessage as ToolResult } from '@ag-ui/core'
import { ToolMessage, type BaseMessage } from '@langchain/core/messages'
import { tool, type DynamicStructuredTool } from '@langchain/core/tools'
import { Command, interrupt } from '@langchain/langgraph'
import type { AgentMiddleware } from 'langchain'
import { isRecord } from '../../core/json.js'
import { clientToolReason } from '../interrupts/to-interrupts.js'
import { pairResults, unansweredCalls } from '../messages/pair-results.js'
import { readGraphMessages } from '../messages/to-agui.js'
import { toLangChain } from '../messages/to-langchain.js'
import { clientExtras, toolSchema, type HasConfigurable } from './client-extras.js'

export interface ClientToolsOptions {
  /**
   * Whether the graph waits at its position for the result. By default a call ends the run, as AG-UI has it, and the
   * agent starts again with the result. Needs a checkpointer; meant for agents that are part of a larger graph.
   */
  readonly keepPosition?: boolean
}

/** The arguments of the middleware's hooks, as far as they are used here. */
interface ModelCall {
  readonly tools: readonly unknown[]
  readonly runtime: HasConfigurable
}
interface ToolCallRequest {
  readonly toolCall: { readonly id?: string; readonly name: string; readonly args: unknown }
  /** Undefined for a tool that the agent itself does not have. */
  readonly tool: unknown
  readonly runtime: HasConfigurable
}

/**
 * Middleware for `createAgent`: offers the client tools to the model and leaves their calls to the client. Server tools
 * that are called along with them run first. A tool of the agent hides a client tool of the same name.
 *
 * @example
 * createAgent({ model, tools, middleware: [clientTools()] })
 */
export function clientTools({ keepPosition = false }: ClientToolsOptions = {}): AgentMiddleware {
  const hooks = {
    // `createMiddleware` adds this mark. Graphs written by hand do not need the package `langchain`.
    [Symbol.for('AgentMiddleware')]: true,
    name: 'ClientTools',
    wrapModelCall: (request: ModelCall, handler: (request: ModelCall) => unknown) =>
      handler({ ...request, tools: withClientTools(request) }),
    wrapToolCall: (request: ToolCallRequest, handler: (request: ToolCallRequest) => unknown) => {
      const { toolCall, tool: ownTool, runtime } = request
      const { id = '', name, args } = toolCall
      if (ownTool !== undefined || !isOfferedByClient(runtime, name)) return handler(request)
      return keepPosition ? awaitClientResult({ id, name, args }) : new Command({ update: { messages: [] } })
    },
    ...(keepPosition ? {} : { beforeModel: { canJumpTo: ['end'], hook: endWithPendingCalls } }),
  }
  return hooks as unknown as AgentMiddleware
}

function withClientTools({ tools, runtime }: ModelCall): unknown[] {
  const own = new Set(tools.map((one) => (one as { name?: unknown } | null)?.name))
  return [...tools, ...getClientTools(runtime).filter(({ name }) => !own.has(name))]
}

/** The model is not called again before the client has sent its results. */
function endWithPendingCalls(
  state: { messages: BaseMessage[] },
  runtime: HasConfigurable,
): { jumpTo: 'end' } | undefined {
  const messages = readGraphMessages(state.messages).map(({ message }) => message)
  const pending = unansweredCalls(pairResults(messages)).some(({ name }) => isOfferedByClient(runtime, name))
  return pending ? { jumpTo: 'end' } : undefined
}

function isOfferedByClient(runtime: HasConfigurable, name: string): boolean {
  return clientExtras(runtime).tools.some((offered) => offered.name === name)
}

/**
 * The client tools as LangChain tools, for graphs written by hand: give them to `bindTools`. Then either end the graph
 * when one of them is called, and it starts again with the result; or run them in a `ToolNode`, and the graph waits at
 * its position for the result (which needs a checkpointer).
 *
 * @example
 * const callModel = async (state, config) => ({
 *   messages: [await model.bindTools([...tools, ...getClientTools(config)]).invoke(state.messages)],
 * })
 */
export function getClientTools(config: HasConfigurable | undefined): DynamicStructuredTool[] {
  return clientExtras(config).tools.map(({ name, description, parameters }) => {
    const run = (args: unknown, runtime: unknown) =>
      awaitClientResult({ id: toolCallId(runtime), name, args })
    return withoutCheck(tool(run, { name, description, schema: toolSchema({}) }), toolSchema(parameters))
  })
}

/**
 * The tool with a schema that models see and nobody checks here. The schema is the client's, and LangChain would check
 * arguments with patterns that can take for ever. The client checks what it gets.
 */
function withoutCheck(
  unchecked: DynamicStructuredTool,
  schema: Record<string, unknown>,
): DynamicStructuredTool {
  return Object.create(unchecked, {
    schema: { value: schema, enumerable: true },
    invoke: { value: unchecked.invoke.bind(unchecked) },
  }) as DynamicStructuredTool
}

function toolCallId(runtime: unknown): string {
  if (!isRecord(runtime)) return ''
  const id = runtime.toolCallId ?? (isRecord(runtime.toolCall) ? runtime.toolCall.id : undefined)
  return typeof id === 'string' ? id : ''
}

/** A call of a client tool. */
export interface ClientCall {
  readonly id: string
  readonly name: string
  readonly args: unknown
}

/** Interrupts the graph until the client sends the result of a call. It throws the first time, as `interrupt` does. */
export function awaitClientResult({ id, name, args }: ClientCall): ToolMessage {
  const answer: unknown = interrupt({ reason: clientToolReason, toolCallId: id, name, args })
  if (isToolResult(answer)) {
    const [message] = toLangChain([{ ...answer, toolCallId: id }])
    if (message instanceof ToolMessage) {
      message.name = name
      return message
    }
  }
  const isCancelled = isRecord(answer) && answer.__agui_cancelled__ === true
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer ?? null)
  return new ToolMessage({
    name,
    tool_call_id: id,
    content: isCancelled ? 'The user did not answer.' : text,
    ...(isCancelled ? { status: 'error' } : {}),
  })
}

function isToolResult(answer: unknown): answer is ToolResult {
  return isRecord(answer) && answer.role === 'tool' && typeof answer.id === 'string'
}
