import type { Message, Tool as ToolInfo } from '@ag-ui/core'
import { BaseLlm, type LlmRequest, type LlmResponse } from '@google/adk'
import { isRecord } from '../core/json.js'
import { demoModel, type DemoModelOptions, type JsonSchema, type Model } from '../models/index.js'
import type { Content, FunctionResponse, Part } from './adk-types.js'

/**
 * A model for ADK agents that needs no key and no network: the `demoModel` of `millrace/models`. It calls the tool whose
 * words the user uses, reports its result, fills in schemas, and makes small talk.
 *
 * @example
 * new LlmAgent({ name: 'helper', model: demoLlm(), tools: [weather] })
 */
export function demoLlm(options: DemoModelOptions = {}): BaseLlm {
  return new DemoLlm(demoModel(options))
}

class DemoLlm extends BaseLlm {
  readonly #model: Model

  constructor(model: Model) {
    super({ model: model.modelId })
    this.#model = model
  }

  override async *generateContentAsync(
    { contents, config }: LlmRequest,
    isStreaming = false,
    signal: AbortSignal = new AbortController().signal,
  ): AsyncGenerator<LlmResponse, void> {
    const schema = toPlainSchema(config?.responseJsonSchema ?? config?.responseSchema)
    const request = { messages: contents.flatMap(toDemoMessages), tools: toDemoTools(config?.tools), signal }
    let text = ''
    let thought = ''
    const calls = new Map<string, { readonly name: string; args: string }>()
    for await (const part of this.#model.stream({ ...request, ...(schema && { output: { schema } }) })) {
      if (part.type === 'text-delta') {
        text += part.delta
        if (isStreaming) yield modelResponse([{ text: part.delta }], true)
      } else if (part.type === 'reasoning-delta') {
        thought += part.delta
        if (isStreaming) yield modelResponse([{ text: part.delta, thought: true }], true)
      } else if (part.type === 'tool-call-start') {
        calls.set(part.toolCallId, { name: part.toolName, args: '' })
      } else if (part.type === 'tool-call-delta') {
        const call = calls.get(part.toolCallId)
        if (call) call.args += part.delta
      }
    }
    yield modelResponse([
      ...(thought === '' ? [] : [{ text: thought, thought: true }]),
      ...(text === '' ? [] : [{ text }]),
      ...Array.from(calls.values(), ({ name, args }) => ({
        functionCall: { name, args: JSON.parse(args) as Record<string, unknown> },
      })),
    ])
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('The demo model has no live connection.'))
  }
}

function modelResponse(parts: Part[], partial = false): LlmResponse {
  return { content: { role: 'model', parts }, partial }
}

/** A content of ADK as AG-UI messages. Calls without an id, as Gemini makes them, go by the name of their tool. */
function toDemoMessages({ role, parts = [] }: Content): Message[] {
  const results = parts.flatMap(({ functionResponse }) =>
    functionResponse ? [toDemoResult(functionResponse)] : [],
  )
  const text = parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')
  if (role !== 'model')
    return text === '' ? results : [...results, { id: 'user', role: 'user', content: text }]
  const toolCalls = parts.flatMap(({ functionCall: call }) => {
    const { name = '', id = name, args = {} } = call ?? {}
    const called = { name, arguments: JSON.stringify(args) }
    return call ? [{ id, type: 'function' as const, function: called }] : []
  })
  return [{ id: 'assistant', role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) }]
}

function toDemoResult({ name = '', id = name, response = {} }: FunctionResponse): Message {
  const { result = response, error } = response
  const message = { id: `result-${id}`, role: 'tool', toolCallId: id } as const
  if (error === undefined) return { ...message, content: textOrJson(result) }
  return { ...message, content: '', error: textOrJson(error) }
}

function textOrJson(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function toDemoTools(tools: NonNullable<LlmRequest['config']>['tools'] = []): ToolInfo[] {
  return tools
    .flatMap((tool) => ('functionDeclarations' in tool ? (tool.functionDeclarations ?? []) : []))
    .map(({ name = '', description = '', parametersJsonSchema, parameters }) => {
      return { name, description, parameters: toPlainSchema(parametersJsonSchema ?? parameters) ?? {} }
    })
}

/** Gemini's own schemas are JSON Schema with types in capitals. */
function toPlainSchema(schema: unknown): JsonSchema | undefined {
  if (!isRecord(schema)) return undefined
  const entries = Object.entries(schema).map(([key, value]) => [key, toPlainValue(key, value)])
  return Object.fromEntries(entries) as JsonSchema
}

function toPlainValue(key: string, value: unknown): unknown {
  if (key === 'type' && typeof value === 'string') return value.toLowerCase()
  if (Array.isArray(value)) return value.map((item: unknown) => toPlainSchema(item) ?? item)
  return toPlainSchema(value) ?? value
}
