import type { Message, Tool as ToolInfo } from '@ag-ui/core'
import { BaseLlm, type LlmRequest, type LlmResponse } from '@google/adk'
import { isRecord } from '../core/is-record.js'
import { demoModel, type DemoModelOptions, type JsonSchema, type Model } from '../models/index.js'
import type { Content, FunctionResponse, Part } from './adk-types.js'

/**
 * A model for ADK agents that needs no key and no network: the `demoModel` of `millrace/models`. It calls the tool whose
 * words the user uses, tells its result, fills in schemas, and makes small talk.
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
    const schema = schemaOf(config?.responseJsonSchema ?? config?.responseSchema)
    const request = { messages: contents.flatMap(toMessages), tools: toolsOf(config?.tools), signal }
    const [said, thought, calls] = [[] as string[], [] as string[], new Map<string, CallDraft>()]
    for await (const part of this.#model.stream({ ...request, ...(schema && { output: { schema } }) })) {
      if (part.type === 'text-delta') said.push(part.delta)
      else if (part.type === 'reasoning-delta') thought.push(part.delta)
      else if (part.type === 'tool-call-start') calls.set(part.toolCallId, { name: part.toolName, args: '' })
      else if (part.type === 'tool-call-delta') append(calls.get(part.toolCallId), part.delta)
      if (!isStreaming) continue
      if (part.type === 'text-delta') yield answer([{ text: part.delta }], true)
      if (part.type === 'reasoning-delta') yield answer([{ text: part.delta, thought: true }], true)
    }
    yield answer([...texts(thought, { thought: true }), ...texts(said), ...[...calls.values()].map(toCall)])
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('The demo model has no live connection.'))
  }
}

interface CallDraft {
  readonly name: string
  args: string
}

function append(call: CallDraft | undefined, delta: string): void {
  if (call) call.args += delta
}

function toCall({ name, args }: CallDraft): Part {
  return { functionCall: { name, args: JSON.parse(args) as Record<string, unknown> } }
}

function texts(pieces: readonly string[], fields: Partial<Part> = {}): Part[] {
  return pieces.length > 0 ? [{ text: pieces.join(''), ...fields }] : []
}

function answer(parts: Part[], partial = false): LlmResponse {
  return { content: { role: 'model', parts }, partial }
}

/** A turn of ADK in AG-UI messages. Calls without an id, as Gemini makes them, go by the name of their tool. */
function toMessages({ role, parts = [] }: Content): Message[] {
  const results = parts.flatMap(({ functionResponse }) =>
    functionResponse ? [resultOf(functionResponse)] : [],
  )
  const text = parts.map((part) => (part.thought === true ? '' : (part.text ?? ''))).join('')
  if (role !== 'model')
    return text === '' ? results : [...results, { id: 'said', role: 'user', content: text }]
  const toolCalls = parts.flatMap(({ functionCall: call }) => {
    const { name = '', id = name, args = {} } = call ?? {}
    const named = { name, arguments: JSON.stringify(args) }
    return call ? [{ id, type: 'function' as const, function: named }] : []
  })
  return [{ id: 'answered', role: 'assistant', content: text, ...(toolCalls.length > 0 && { toolCalls }) }]
}

function resultOf({ name = '', id = name, response = {} }: FunctionResponse): Message {
  const { result = response, error } = response
  const content = typeof result === 'string' ? result : JSON.stringify(result)
  const message = { id: `result-${id}`, role: 'tool', toolCallId: id } as const
  return error === undefined ? { ...message, content } : { ...message, content: '', error: textOf(error) }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

type Tools = NonNullable<LlmRequest['config']>['tools']

function toolsOf(tools: Tools = []): ToolInfo[] {
  return tools
    .flatMap((tool) => ('functionDeclarations' in tool ? (tool.functionDeclarations ?? []) : []))
    .map(({ name = '', description = '', parametersJsonSchema, parameters }) => {
      return { name, description, parameters: schemaOf(parametersJsonSchema ?? parameters) ?? {} }
    })
}

/** Gemini's own schemas are JSON Schema with types in capitals. */
function schemaOf(schema: unknown): JsonSchema | undefined {
  if (!isRecord(schema)) return undefined
  const entries = Object.entries(schema).map(([key, value]) => [key, plain(key, value)])
  return Object.fromEntries(entries) as JsonSchema
}

function plain(key: string, value: unknown): unknown {
  if (key === 'type' && typeof value === 'string') return value.toLowerCase()
  if (Array.isArray(value)) return value.map((item: unknown) => schemaOf(item) ?? item)
  return schemaOf(value) ?? value
}
