import {
  BasePlugin,
  type BaseTool,
  type Context,
  type InvocationContext,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk'

/** What the plugin of a run does. */
export interface PluginHooks {
  readonly userMessage: (context: InvocationContext) => void
  /** An answer stands in for that of the model. */
  readonly beforeModel: (request: LlmRequest, context: InvocationContext) => LlmResponse | undefined
  /** Called for answers with function calls. */
  readonly afterModel: (response: LlmResponse, context: InvocationContext) => void
  readonly afterTool: (tool: BaseTool, context: Context, result: unknown) => void
  /** An answer is the result of the tool. */
  readonly toolError: (tool: BaseTool, context: Context, error: Error) => ToolResponse | undefined
}

const nothing = Promise.resolve(undefined)

/** Changes what it is shown, and answers only where it must: the callbacks of plugins and agents behind it are asked as well. */
export class RunHooks extends BasePlugin {
  readonly #hooks: PluginHooks

  constructor(hooks: PluginHooks) {
    super('millrace')
    this.#hooks = hooks
  }

  override onUserMessageCallback({ invocationContext }: UserMessage): Promise<undefined> {
    this.#hooks.userMessage(invocationContext)
    return nothing
  }

  // The one it would inherit tells the console that it is experimental.
  override beforeToolSelection(): Promise<undefined> {
    return nothing
  }

  override async beforeModelCallback({
    callbackContext,
    llmRequest,
  }: ModelRequest): Promise<LlmResponse | undefined> {
    return Promise.resolve(this.#hooks.beforeModel(llmRequest, callbackContext.invocationContext))
  }

  // Called for every piece of a text.
  override afterModelCallback({ callbackContext, llmResponse }: ModelResponse): Promise<undefined> {
    if (llmResponse.content?.parts?.some(({ functionCall }) => functionCall))
      this.#hooks.afterModel(llmResponse, callbackContext.invocationContext)
    return nothing
  }

  override afterToolCallback({ tool, toolContext, result }: ToolResult): Promise<undefined> {
    this.#hooks.afterTool(tool, toolContext, result)
    return nothing
  }

  override onToolErrorCallback({ tool, toolContext, error }: ToolFailure): Promise<ToolResponse | undefined> {
    return Promise.resolve(this.#hooks.toolError(tool, toolContext, error))
  }
}

type ToolResponse = Record<string, unknown>
type UserMessage = Parameters<BasePlugin['onUserMessageCallback']>[0]
type ModelRequest = Parameters<BasePlugin['beforeModelCallback']>[0]
type ModelResponse = Parameters<BasePlugin['afterModelCallback']>[0]
type ToolResult = Parameters<BasePlugin['afterToolCallback']>[0]
type ToolFailure = Parameters<BasePlugin['onToolErrorCallback']>[0]
