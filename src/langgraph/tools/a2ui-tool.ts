import type { BaseChatModel } from '@langchain/core/language_models/chat_models'
import { AIMessageChunk, BaseMessage, SystemMessage, type AIMessage } from '@langchain/core/messages'
import type { RunnableConfig } from '@langchain/core/runnables'
import { tool, type DynamicStructuredTool, type ToolRuntime } from '@langchain/core/tools'
import {
  checkA2uiOptions,
  generateTool,
  progressEventName,
  progressValue,
  renderTool,
  writeSurface,
  type A2uiOptions,
} from '../../a2ui/index.js'
import { MillraceError } from '../../core/errors.js'
import { isRecord } from '../../core/json.js'
import { emit } from '../emit.js'
import { toAgui } from '../messages/to-agui.js'
import { clientExtras } from './client-extras.js'

export interface A2uiToolOptions extends A2uiOptions {
  /** The chat model that writes surfaces. It needs `bindTools`. */
  readonly model: BaseChatModel
}

/**
 * The tool `generate_a2ui` for graphs: a model writes a surface of the components that the page can draw. What it writes is
 * checked; it is told what is wrong and tries again. Put `withA2ui` of `millrace/a2ui` around `fromLangGraph`.
 *
 * The conversation is the `messages` of the graph's state, as `createAgent` and `ToolNode` have it.
 */
export function a2uiTool({ model, ...options }: A2uiToolOptions): DynamicStructuredTool {
  checkA2uiOptions(options)
  if (typeof model.bindTools !== 'function')
    throw new MillraceError(
      'INVALID_AGENT',
      '`a2uiTool`: the model has no `bindTools`. Choose one that calls tools.',
    )
  const { name, description, parameters } = generateTool
  const execute = (args: unknown, runtime: ToolRuntime): Promise<string> => {
    const { toolCallId, signal } = runtime
    const messages = messagesBefore(runtime)
    return writeSurface(options, {
      args,
      messages: toAgui(messages),
      context: clientExtras(runtime).context,
      write: (prompt, onText) =>
        askModel(model, [new SystemMessage(prompt), ...messages], { onText, signal }),
      show: (progress) => void emit(progressEventName, progressValue(toolCallId, progress), runtime),
    })
  }
  return tool(execute as never, {
    name,
    description,
    schema: { ...parameters },
  })
}

/** Models refuse a call without its result. */
function messagesBefore({ state, toolCallId }: ToolRuntime): BaseMessage[] {
  const kept: unknown = isRecord(state) ? state.messages : undefined
  const messages = (Array.isArray(kept) ? kept : []).filter((one) => BaseMessage.isInstance(one))
  const isCaller = (message: BaseMessage): boolean =>
    (message as AIMessage).tool_calls?.some(({ id }) => id === toolCallId) === true
  const at = messages.findLastIndex(isCaller)
  return at === -1 ? messages : messages.slice(0, at)
}

interface AskOptions {
  readonly onText: (characters: number) => void
  readonly signal: RunnableConfig['signal']
}

/** Hidden from the stream of the graph: the page shows the surface, not how it is written. */
async function askModel(
  model: BaseChatModel,
  messages: BaseMessage[],
  { onText, signal }: AskOptions,
): Promise<unknown> {
  const bound = model.bindTools?.([{ type: 'function', function: renderTool }], {
    tool_choice: renderTool.name,
  })
  let args = ''
  let first: number | string | undefined
  let whole: unknown
  const stream = await bound?.stream(messages, { tags: ['nostream'], ...(signal ? { signal } : {}) })
  for await (const message of stream ?? []) {
    for (const { name, index, args: delta = '' } of AIMessageChunk.isInstance(message)
      ? (message.tool_call_chunks ?? [])
      : []) {
      first ??= name === renderTool.name ? (index ?? 0) : undefined
      if (first === undefined || (index ?? 0) !== first) continue
      args += delta
      onText(delta.length)
    }
    whole ??= message.tool_calls?.find(({ name }) => name === renderTool.name)?.args
  }
  return args === '' ? whole : args
}
