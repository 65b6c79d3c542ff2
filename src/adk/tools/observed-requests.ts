import type { InvocationContext, LlmRequest, LlmResponse } from '@google/adk'
import type { ModelObserver } from '../../agents/index.js'

type ObservedEnd = Parameters<ReturnType<ModelObserver>>[0]

/** Tells the observer of a run of the requests to ADK's models. Plugins and callbacks of the application may change them later. */
export class ObservedRequests {
  readonly #observe: ModelObserver | undefined
  readonly #open = new WeakMap<InvocationContext, (end: ObservedEnd) => void>()

  constructor(observe: ModelObserver | undefined) {
    this.#observe = observe
  }

  begin(context: InvocationContext, { model, contents, config = {} }: LlmRequest): void {
    if (!this.#observe) return
    const { systemInstruction, tools = [] } = config
    const settings = settingNames.flatMap((name) =>
      config[name] === undefined ? [] : [[name, config[name]]],
    )
    const end = this.#observe({
      agent: context.agent?.name ?? '',
      model: model ?? '',
      ...(systemInstruction === undefined ? {} : { instructions: systemInstruction }),
      messages: contents,
      tools: tools.flatMap((tool) => declarationsOf(tool) ?? [tool]),
      settings: Object.fromEntries(settings),
    })
    this.#open.set(context, end)
  }

  /** Called for every part of an answer. The last one ends the request. */
  answer(context: InvocationContext, { partial, usageMetadata: usage }: LlmResponse): void {
    if (!this.#observe || partial === true) return
    const { promptTokenCount: inputTokens, candidatesTokenCount: outputTokens } = usage ?? {}
    this.#end(context, {
      usage: {
        ...(inputTokens === undefined ? {} : { inputTokens }),
        ...(outputTokens === undefined ? {} : { outputTokens }),
      },
    })
  }

  fail(context: InvocationContext, error: unknown): void {
    this.#end(context, { error })
  }

  #end(context: InvocationContext, end: ObservedEnd): void {
    this.#open.get(context)?.(end)
    this.#open.delete(context)
  }
}

/** Others, such as headers for the provider, may be secret. */
const settingNames = [
  ...([
    'temperature',
    'topP',
    'topK',
    'maxOutputTokens',
    'stopSequences',
    'seed',
    'responseMimeType',
  ] as const),
  ...(['responseSchema', 'responseJsonSchema', 'thinkingConfig', 'toolConfig'] as const),
]

function declarationsOf(tool: object): readonly unknown[] | undefined {
  const declarations: unknown = Reflect.get(tool, 'functionDeclarations')
  return Array.isArray(declarations) ? declarations : undefined
}
