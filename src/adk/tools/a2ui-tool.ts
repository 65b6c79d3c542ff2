import type { Context as ClientContext } from '@ag-ui/core'
import {
  BaseLlm,
  BaseTool,
  createEvent,
  isLlmAgent,
  LLMRegistry,
  type Context,
  type InvocationContext,
  type LlmRequest,
} from '@google/adk'
import {
  checkA2uiOptions,
  generateTool,
  progressEventName,
  progressValue,
  renderTextTool,
  writeSurface,
  type A2uiOptions,
  type A2uiProgress,
} from '../../a2ui/index.js'
import { MillraceError } from '../../core/errors.js'
import { sessionMessages } from '../session/history.js'
import { toModelContents } from './run-plugin.js'

export interface A2uiToolOptions extends A2uiOptions {
  /** The model that writes surfaces. Default: the model of the agent that calls the tool. */
  readonly model?: BaseLlm | string
}

/**
 * The tool `generate_a2ui` for agents of ADK: a model writes a surface of the components that the page can draw. What it writes
 * is checked; it is told what is wrong and tries again. Put `withA2ui` of `millrace/a2ui` around `fromAdk`.
 */
export function a2uiTool(options: A2uiToolOptions = {}): BaseTool {
  checkA2uiOptions(options)
  return new A2uiTool(options)
}

type ToolRequest = Parameters<BaseTool['runAsync']>[0]
type Config = NonNullable<LlmRequest['config']>
type CallingConfig = NonNullable<Config['toolConfig']>['functionCallingConfig']
type CallingMode = NonNullable<NonNullable<CallingConfig>['mode']>

class A2uiTool extends BaseTool {
  readonly #options: A2uiToolOptions

  constructor(options: A2uiToolOptions) {
    super({ name: generateTool.name, description: generateTool.description })
    this.#options = options
  }

  override _getDeclaration(): NonNullable<ReturnType<BaseTool['_getDeclaration']>> {
    const { name, description, parameters } = generateTool
    return { name, description, parametersJsonSchema: parameters }
  }

  override async runAsync({ args, toolContext }: ToolRequest): Promise<unknown> {
    const { invocationContext: context, functionCallId: callId = '' } = toolContext
    const llm = modelOf(this.#options.model, context)
    const { events } = context.session
    const isCall = (event: (typeof events)[number]): boolean =>
      event.content?.parts?.some(({ functionCall }) => functionCall?.id === callId) ?? false
    const at = events.findLastIndex(isCall)
    const before = at === -1 ? events : events.slice(0, at)
    const contents = before.flatMap(({ content }) => (content ? [content] : []))
    const text = await writeSurface(this.#options, {
      args,
      messages: sessionMessages(before),
      context: toolContext.state.get<ClientContext[]>('temp:ag_ui_context') ?? [],
      write: (prompt) => {
        const request = { contents, config: configOf(prompt), liveConnectConfig: {}, toolsDict: {} }
        const shown = { ...request, contents: toModelContents(request, context) }
        return askModel(llm, shown, toolContext.abortSignal)
      },
      show: (progress) => push(toolContext, progressValue(callId, progress)),
    })
    return JSON.parse(text) as unknown
  }
}

function modelOf(model: A2uiToolOptions['model'], { agent }: InvocationContext): BaseLlm {
  if (typeof model === 'string') return LLMRegistry.newLlm(model)
  if (model) return model
  if (isLlmAgent(agent)) return agent.canonicalModel
  const message = `\`a2uiTool\` needs a \`model\`: '${agent?.name ?? ''}' has none of its own.`
  throw new MillraceError('INVALID_AGENT', message)
}

// An enum of `@google/genai`, which is ADK's own dependency.
const mustCall = 'ANY' as unknown as CallingMode

function configOf(systemInstruction: string): Config {
  const { name, description, parameters } = renderTextTool
  return {
    systemInstruction,
    tools: [{ functionDeclarations: [{ name, description, parametersJsonSchema: parameters }] }],
    toolConfig: { functionCallingConfig: { mode: mustCall, allowedFunctionNames: [name] } },
  }
}

async function askModel(
  llm: BaseLlm,
  request: LlmRequest,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  for await (const { content, errorCode, errorMessage } of llm.generateContentAsync(request, false, signal)) {
    if (errorCode !== undefined && !content)
      throw new MillraceError(
        'MODEL_ERROR',
        `The model that writes surfaces failed: ${errorMessage ?? errorCode}`,
      )
    const call = content?.parts?.find(({ functionCall }) => functionCall?.name === renderTextTool.name)
    if (call) return call.functionCall?.args
  }
  return undefined
}

/** A partial event is shown and not stored. */
function push({ invocationContext }: Context, progress: A2uiProgress): void {
  const { eventQueue, invocationId, branch, agent } = invocationContext
  const fields = { invocationId, author: agent?.name ?? '', ...(branch === undefined ? {} : { branch }) }
  eventQueue?.push(
    createEvent({ ...fields, partial: true, customMetadata: { [progressEventName]: progress } }),
  )
}
