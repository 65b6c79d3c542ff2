import type { ThreadSnapshot } from 'millrace/client'
import type { AgentNode } from '../session/contract.js'
import { schemaOf, toSchema, type JsonSchema } from '../ui/json-schema.js'

type Interrupt = ThreadSnapshot['interrupts'][number]
type Message = ThreadSnapshot['messages'][number]

/** The tool call that an interrupt is about. */
export interface AskedCall {
  readonly name: string
  readonly arguments: unknown
  readonly schema: JsonSchema
}

/** Finds the call in the messages, or in what the runtime says of it. */
export function askedCall(
  interrupt: Interrupt,
  messages: readonly Message[],
  agent: AgentNode,
): AskedCall | undefined {
  const found = callIn(messages, interrupt.toolCallId) ?? callInMetadata(interrupt.metadata)
  if (!found) return undefined
  const known = toolsOf(agent).find(({ name }) => name === found.name)?.parameters
  return { ...found, schema: known === undefined ? schemaOf(found.arguments) : toSchema(known) }
}

type Call = Pick<AskedCall, 'name' | 'arguments'>

function callIn(messages: readonly Message[], toolCallId: string | undefined): Call | undefined {
  if (toolCallId === undefined) return undefined
  for (const message of messages.toReversed()) {
    const call =
      message.role === 'assistant' ? message.toolCalls?.find(({ id }) => id === toolCallId) : undefined
    if (call) return { name: call.function.name, arguments: parse(call.function.arguments) }
  }
  return undefined
}

function callInMetadata(metadata: unknown): Call | undefined {
  const fields = toFields(metadata)
  const review = toFields(toFields(fields.langgraph).value)
  if (typeof review.name === 'string') return { name: review.name, arguments: review.args ?? {} }
  const name = fields.toolName ?? fields.tool
  return typeof name === 'string' ? { name, arguments: fields.arguments ?? {} } : undefined
}

function toolsOf({ tools, agents }: AgentNode): AgentNode['tools'] {
  return [...tools, ...agents.flatMap((one) => ('ref' in one ? [] : toolsOf(one)))]
}

function toFields(value: unknown): Readonly<Record<string, unknown>> {
  return (typeof value === 'object' && value !== null ? value : {}) as Record<string, unknown>
}

function parse(text: string): unknown {
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return text
  }
}
