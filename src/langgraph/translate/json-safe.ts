import { BaseMessage } from '@langchain/core/messages'
import { textOf } from './content.js'

/** Told what was left out: where it stood, and what it was. */
export type LeftOut = (path: string, what: string) => void

/**
 * A copy that JSON carries as it is. LangChain's messages become plain ones; what says itself how it looks as JSON
 * (a Date, a URL) is taken at its word. Class instances, circles, functions, BigInts and NaN are left out, in lists
 * with null in their place, and told.
 */
export function toJsonSafe(value: unknown, path: string, leftOut: LeftOut): unknown {
  return copy(value, path, { leftOut, above: new Set() })
}

interface Copying {
  readonly leftOut: LeftOut
  readonly above: Set<object>
}

function copy(value: unknown, path: string, copying: Copying): unknown {
  const problem = problemOf(value, copying.above)
  if (problem !== undefined) {
    copying.leftOut(path, problem)
    return undefined
  }
  if (typeof value !== 'object' || value === null) return value
  if (BaseMessage.isInstance(value)) return copy(plainMessage(value), path, copying)
  copying.above.add(value)
  const copied = copyObject(value, path, copying)
  copying.above.delete(value)
  return copied
}

function copyObject(value: object, path: string, copying: Copying): unknown {
  if (Array.isArray(value))
    return value.map((entry: unknown, index) => copy(entry, `${path}[${index}]`, copying) ?? null)
  if (!isPlain(value) && hasToJson(value)) return copy(toJson(value), path, copying)
  const members: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    // A member that is undefined is one that is not there.
    const copied = member === undefined ? undefined : copy(member, `${path}.${key}`, copying)
    if (copied !== undefined) define(members, key, copied)
  }
  return members
}

/** Plain assignment would change the prototype for the key `__proto__`. */
function define(members: Record<string, unknown>, key: string, value: unknown): void {
  if (key === '__proto__') Object.defineProperty(members, key, { value, enumerable: true })
  else members[key] = value
}

function problemOf(value: unknown, above: ReadonlySet<object>): string | undefined {
  switch (typeof value) {
    case 'function':
    case 'symbol':
    case 'bigint':
      return `a value of type ${typeof value}`
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'object':
      if (value === null || BaseMessage.isInstance(value)) return undefined
      if (above.has(value)) return 'a circle'
      return Array.isArray(value) || isPlain(value) || hasToJson(value) ? undefined : `a ${className(value)}`
    default:
      return undefined
  }
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function className(value: object): string {
  return (value as { constructor?: { name?: string } }).constructor?.name ?? 'class instance'
}

/** LangChain's own objects say how to construct them, which is nothing for clients. */
function hasToJson(value: object): boolean {
  const { toJSON, lc_serializable: isLangChains } = value as { toJSON?: unknown; lc_serializable?: unknown }
  return typeof toJSON === 'function' && isLangChains === undefined
}

function toJson(value: object): unknown {
  try {
    return (value as { toJSON: () => unknown }).toJSON()
  } catch {
    return undefined
  }
}

const roles: Readonly<Record<string, string>> = { ai: 'assistant', human: 'user' }

/** A message as AG-UI has it, as far as state needs it. */
function plainMessage(message: BaseMessage): Record<string, unknown> {
  const { tool_calls: calls = [], tool_call_id: toolCallId } = message as {
    tool_calls?: readonly { id?: string; name: string; args: unknown }[]
    tool_call_id?: string
  }
  const toolCalls = calls.map(({ id, name, args }) => ({
    id,
    type: 'function',
    function: { name, arguments: JSON.stringify(args) },
  }))
  return {
    id: message.id,
    role: roles[message.type] ?? message.type,
    content: textOf(message.content),
    name: message.name,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...(toolCallId === undefined ? {} : { toolCallId }),
  }
}

/** JSON of any value, as a text. Never throws. */
export function toText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(toJsonSafe(value, '', () => undefined) ?? null)
}
