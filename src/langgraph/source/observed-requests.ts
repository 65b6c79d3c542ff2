import type { BaseMessage } from '@langchain/core/messages'
import type { ModelObserver } from '../../agents/index.js'
import { ifString, isRecord } from '../../core/json.js'

type ObservedEnd = Parameters<ReturnType<ModelObserver>>[0]

interface StartedRequest {
  readonly runId: string
  readonly messages: readonly BaseMessage[]
  readonly extraParams: unknown
  readonly metadata: Readonly<Record<string, unknown>>
}

/** Tells the observer of a run of the requests to LangChain's models. */
export class ObservedRequests {
  readonly #observe: ModelObserver | undefined
  readonly #open = new Map<string, (end: ObservedEnd) => void>()

  constructor(observe: ModelObserver | undefined) {
    this.#observe = observe
  }

  begin({ runId, messages, extraParams, metadata }: StartedRequest): void {
    if (!this.#observe) return
    const given: unknown = isRecord(extraParams) ? extraParams.invocation_params : undefined
    const params = isRecord(given) ? given : {}
    const settings = settingNames.flatMap((name) =>
      params[name] === undefined ? [] : [[name, params[name]]],
    )
    const provider = ifString(metadata.ls_provider)
    const model = ifString(metadata.ls_model_name) ?? ifString(params.model) ?? ''
    const end = this.#observe({
      agent: ifString(metadata.langgraph_node) ?? '',
      model: provider === undefined ? model : `${provider}/${model}`,
      messages: messages.map(toPlain),
      tools: Array.isArray(params.tools) ? params.tools : [],
      settings: Object.fromEntries(settings),
    })
    this.#open.set(runId, end)
  }

  end(runId: string, end: ObservedEnd): void {
    this.#open.get(runId)?.(end)
    this.#open.delete(runId)
  }
}

/** Others, such as headers for the provider, may be secret. */
const settingNames = [
  ...['temperature', 'top_p', 'max_tokens', 'max_completion_tokens', 'maxTokens', 'maxOutputTokens'],
  ...['stop', 'seed', 'tool_choice', 'response_format', 'reasoning', 'thinking'],
]

function toPlain(message: BaseMessage): object {
  const { id, name, content } = message
  const calls: unknown = Reflect.get(message, 'tool_calls')
  const callId: unknown = Reflect.get(message, 'tool_call_id')
  return {
    role: message.type,
    ...{ id, name, content },
    ...(Array.isArray(calls) && calls.length > 0 ? { toolCalls: calls as unknown[] } : {}),
    ...(callId === undefined ? {} : { toolCallId: callId }),
  }
}
