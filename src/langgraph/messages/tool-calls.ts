import type { ToolCall } from '@ag-ui/core'
import type { AIMessage } from '@langchain/core/messages'
import { isRecord } from '../../core/json.js'

type LangChainCall = NonNullable<AIMessage['tool_calls']>[number]
type InvalidCall = NonNullable<AIMessage['invalid_tool_calls']>[number]

interface LangChainCalls {
  readonly tool_calls: LangChainCall[]
  readonly invalid_tool_calls: InvalidCall[]
  readonly kwargs: Readonly<Record<string, unknown>>
}

/** Holds arguments that are not a JSON object, for a call that has a result: providers then insist on the call. */
const rawKey = '__raw_arguments__'
/** Google's client keeps the signatures of tool calls here. */
export const signaturesKey = '__gemini_function_call_thought_signatures__'

/** Tool calls as LangChain has them. `isAnswered`: whether the thread has a result for a call. */
export function toLangChainCalls(
  calls: readonly ToolCall[],
  isAnswered: (toolCallId: string) => boolean,
): LangChainCalls {
  const valid: LangChainCall[] = []
  const invalid: InvalidCall[] = []
  for (const { id, function: called } of calls) {
    const parsed = parseArguments(called.arguments)
    const args = parsed ?? (isAnswered(id) ? { [rawKey]: called.arguments } : undefined)
    if (args) valid.push({ type: 'tool_call', id, name: called.name, args })
    else {
      const error = 'The arguments are not a JSON object.'
      invalid.push({ type: 'invalid_tool_call', id, name: called.name, args: called.arguments, error })
    }
  }
  const signed = calls.flatMap(({ id, encryptedValue }) =>
    encryptedValue === undefined ? [] : [[id, encryptedValue]],
  )
  const kwargs = signed.length === 0 ? {} : { [signaturesKey]: Object.fromEntries(signed) as unknown }
  return { tool_calls: valid, invalid_tool_calls: invalid, kwargs }
}

/** The tool calls of a message, also those with invalid arguments. A call without an id gets `<messageId>:tc<n>`. */
export function fromLangChainCalls(messageId: string, message: AIMessage): ToolCall[] {
  const signatures: unknown = message.additional_kwargs[signaturesKey]
  const calls = [...(message.tool_calls ?? []), ...(message.invalid_tool_calls ?? [])]
  return calls.map(({ id = '', name = '', args }, index) => {
    const signature = isRecord(signatures) ? signatures[id] : undefined
    return {
      id: id === '' ? `${messageId}:tc${index}` : id,
      type: 'function',
      function: { name, arguments: formatArguments(args) },
      ...(typeof signature === 'string' ? { encryptedValue: signature } : {}),
    }
  })
}

function parseArguments(text: string): Record<string, unknown> | undefined {
  if (text.trim() === '') return {}
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

function formatArguments(args: unknown): string {
  if (typeof args === 'string') return args
  const raw = isRecord(args) ? args[rawKey] : undefined
  return typeof raw === 'string' ? raw : JSON.stringify(args ?? {})
}
