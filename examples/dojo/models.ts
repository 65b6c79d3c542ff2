/**
 * The models of the Dojo's agents: scripted ones that need no key, and real ones if there is a key. `OPENAI_API_KEY` and its
 * like serve the kit and the graphs, `GEMINI_API_KEY` serves the agents of ADK.
 */
import { setImmediate } from 'node:timers/promises'
import { BaseLlm, type LlmRequest, type LlmResponse } from '@google/adk'
import { toChatModel, type ChatModel } from 'millrace/langgraph'
import { modelFromEnv, scriptedModel, type Model, type ModelRequest } from 'millrace/models'

/** What a scripted model reads of a request. */
export interface Asked {
  /** The user's latest words. */
  readonly text: string
  /** The result of the tool that was called last, if nobody has said anything since. */
  readonly result: string | undefined
  readonly instructions: string
  /** Whether the user's latest message has an image, a sound or a document. */
  readonly hasMedia: boolean
}

interface ScriptedReply {
  readonly thought?: string
  readonly text?: string
  readonly call?: { readonly name: string; readonly args: Readonly<Record<string, unknown>> }
}

export type Script = (asked: Asked) => ScriptedReply

const { OPENAI_API_KEY, OPENAI_BASE_URL, ANTHROPIC_API_KEY, GEMINI_API_KEY } = process.env
const real = (OPENAI_API_KEY ?? OPENAI_BASE_URL ?? ANTHROPIC_API_KEY) ? await modelFromEnv() : undefined

/** A model of the kit. Its deltas are short, as those of providers are. */
export function kitModel(script: Script): Model {
  return real ?? scriptedModel((request) => toPieces(script(askedOfKit(request))), { chunkSize: 12 })
}

/** A model of LangChain. */
export function graphModel(script: Script): ChatModel {
  return toChatModel(kitModel(script))
}

/** A model of ADK. */
export function adkModel(script: Script): string | BaseLlm {
  return GEMINI_API_KEY === undefined ? new ScriptedLlm(script) : 'gemini-2.5-flash'
}

function askedOfKit({ messages, instructions = '', context = '' }: ModelRequest): Asked {
  const last = messages.at(-1)
  const user = messages.findLast(({ role }) => role === 'user')?.content
  const system = messages.filter(({ role }) => role === 'system').map(({ content }) => textOf(content))
  return {
    text: textOf(user),
    result: last?.role === 'tool' ? textOf(last.content) : undefined,
    instructions: [instructions, ...system, context].join('\n'),
    hasMedia: Array.isArray(user) && user.some(({ type }) => type !== 'text'),
  }
}

function toPieces({ thought, text, call }: ScriptedReply) {
  return [
    ...(thought === undefined ? [] : [{ reasoning: thought }]),
    ...(text === undefined ? [] : [{ text }]),
    ...(call === undefined ? [] : [{ toolCall: call }]),
  ]
}

function textOf(content: unknown): string {
  if (typeof content === 'string') return content
  const parts: readonly unknown[] = Array.isArray(content) ? content : []
  return parts.map((part) => (part as { text?: string }).text ?? '').join('')
}

/** Plays a script for ADK: text and thoughts as partials first, as Gemini streams them. */
class ScriptedLlm extends BaseLlm {
  readonly #script: Script

  constructor(script: Script) {
    super({ model: 'scripted' })
    this.#script = script
  }

  override async *generateContentAsync(request: LlmRequest): AsyncGenerator<LlmResponse, void> {
    const { thought, text, call } = this.#script(askedOfAdk(request))
    const spoken = [
      ...(thought === undefined ? [] : [{ text: thought, thought: true }]),
      ...(text === undefined ? [] : [{ text }]),
    ]
    for (const part of spoken) {
      yield { content: { role: 'model', parts: [part] }, partial: true }
      await setImmediate()
    }
    const calls = call === undefined ? [] : [{ functionCall: { ...call, args: { ...call.args } } }]
    yield { content: { role: 'model', parts: [...spoken, ...calls] }, partial: false }
  }

  override connect(): Promise<never> {
    return Promise.reject(new Error('A scripted model has no live connection.'))
  }
}

function askedOfAdk({ contents, config }: LlmRequest): Asked {
  const last = contents.at(-1)?.parts ?? []
  const said = contents.filter(
    ({ role, parts = [] }) => role === 'user' && parts.some(({ functionResponse }) => !functionResponse),
  )
  const user = said.at(-1)?.parts ?? []
  const response = last.find(({ functionResponse }) => functionResponse)?.functionResponse?.response
  return {
    text: textOf(user),
    result: response === undefined ? undefined : textOf(response.result) || JSON.stringify(response),
    instructions: JSON.stringify(config?.systemInstruction ?? ''),
    hasMedia: user.some(({ inlineData, fileData }) => inlineData !== undefined || fileData !== undefined),
  }
}
