import { BaseMessage } from '@langchain/core/messages'
import { contentText } from '../messages/content.js'

/** Decides what clients see of a graph's state, and makes it JSON. Reports once what cannot be JSON. */
export class VisibleState {
  readonly #isPrivate: (key: string) => boolean
  readonly #report: (problem: string) => void
  readonly #reported = new Set<string>()

  constructor(isPrivate: (key: string) => boolean, report: (problem: string) => void) {
    this.#isPrivate = isPrivate
    this.#report = report
  }

  /** The part of a graph's state that clients may see. Undefined if the values are not a state. */
  of(values: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
    // Interrupts come in place of a state.
    if ('__interrupt__' in values && Object.keys(values).length === 1) return undefined
    const shown = Object.entries(values).filter(([key]) => !isHiddenKey(key) && !this.#isPrivate(key))
    return this.toSafe(Object.fromEntries(shown), 'state') as Record<string, unknown>
  }

  /** A copy of the value that is JSON. `what` names the value in reports. */
  toSafe(value: unknown, what: string): unknown {
    return toJsonSafe(value, what, (path, problem) => {
      // Entries of a list are alike: one is reported for all.
      const key = path.replaceAll(/\[\d+\]/g, '[]')
      if (this.#reported.has(key)) return
      this.#reported.add(key)
      this.#report(`${path} is ${problem}, not JSON; it was left out`)
    })
  }
}

/** Messages are not part of the shared state. Keys like `__interrupt__` are LangGraph's own. */
function isHiddenKey(key: string): boolean {
  return key === 'messages' || key.startsWith('__')
}

/** JSON text of any value. Never throws. */
export function toSafeText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(toJsonSafe(value, '', () => undefined) ?? null)
}

/** Called for each value that is left out. */
type OnLeftOut = (path: string, problem: string) => void

/**
 * A copy of a value that is JSON. LangChain messages become plain objects; objects with `toJSON`, such as a Date, call
 * it. Other class instances, circles, functions, BigInts and NaN are left out; in lists null takes their place.
 */
function toJsonSafe(value: unknown, path: string, onLeftOut: OnLeftOut): unknown {
  return copyValue(value, path, { onLeftOut, ancestors: new Set() })
}

interface Copying {
  readonly onLeftOut: OnLeftOut
  readonly ancestors: Set<object>
}

function copyValue(value: unknown, path: string, copying: Copying): unknown {
  const problem = jsonProblem(value, copying.ancestors)
  if (problem !== undefined) {
    copying.onLeftOut(path, problem)
    return undefined
  }
  if (typeof value !== 'object' || value === null) return value
  if (BaseMessage.isInstance(value)) return copyValue(toPlainMessage(value), path, copying)
  copying.ancestors.add(value)
  const copy = copyObject(value, path, copying)
  copying.ancestors.delete(value)
  return copy
}

function copyObject(value: object, path: string, copying: Copying): unknown {
  if (Array.isArray(value))
    return value.map((entry: unknown, index) => copyValue(entry, `${path}[${index}]`, copying) ?? null)
  if (!hasPlainPrototype(value) && hasToJson(value)) return copyValue(callToJson(value), path, copying)
  const members: Record<string, unknown> = {}
  for (const [key, member] of Object.entries(value)) {
    // Undefined members are skipped without a report.
    const copy = member === undefined ? undefined : copyValue(member, `${path}.${key}`, copying)
    if (copy === undefined) continue
    // Plain assignment would change the prototype.
    if (key === '__proto__') Object.defineProperty(members, key, { value: copy, enumerable: true })
    else members[key] = copy
  }
  return members
}

function jsonProblem(value: unknown, ancestors: ReadonlySet<object>): string | undefined {
  switch (typeof value) {
    case 'function':
    case 'symbol':
    case 'bigint':
      return `a value of type ${typeof value}`
    case 'number':
      return Number.isFinite(value) ? undefined : String(value)
    case 'object':
      if (value === null || BaseMessage.isInstance(value)) return undefined
      if (ancestors.has(value)) return 'a circle'
      return Array.isArray(value) || hasPlainPrototype(value) || hasToJson(value)
        ? undefined
        : `a ${classNameOf(value)}`
    default:
      return undefined
  }
}

function hasPlainPrototype(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}

function classNameOf(value: object): string {
  return (value as { constructor?: { name?: string } }).constructor?.name ?? 'class instance'
}

/** The `toJSON` of LangChain's own objects describes how to construct them, which is useless to clients. */
function hasToJson(value: object): boolean {
  const { toJSON, lc_serializable: isLangChains } = value as { toJSON?: unknown; lc_serializable?: unknown }
  return typeof toJSON === 'function' && isLangChains === undefined
}

function callToJson(value: object): unknown {
  try {
    return (value as { toJSON: () => unknown }).toJSON()
  } catch {
    return undefined
  }
}

const messageRoles: Readonly<Record<string, string>> = { ai: 'assistant', human: 'user' }

/** A message as AG-UI has it, as far as state needs it. */
function toPlainMessage(message: BaseMessage): Record<string, unknown> {
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
    role: messageRoles[message.type] ?? message.type,
    content: contentText(message.content),
    name: message.name,
    ...(toolCalls.length > 0 ? { toolCalls } : {}),
    ...(toolCallId === undefined ? {} : { toolCallId }),
  }
}
