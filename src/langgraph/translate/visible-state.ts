import { BaseMessage } from '@langchain/core/messages'
import { MillraceError } from '../../core/errors.js'
import { shownAs, toJson } from '../../core/to-json.js'
import { contentText } from '../messages/content.js'

/** Decides what of a graph's state is shared, and makes it JSON. Reports once what cannot be JSON. */
export class VisibleState {
  readonly #isPrivate: (key: string) => boolean
  readonly #report: (problem: string, error?: unknown) => void
  readonly #reported = new Set<string>()

  constructor(isPrivate: (key: string) => boolean, report: (problem: string, error?: unknown) => void) {
    this.#isPrivate = isPrivate
    this.#report = report
  }

  /** The part of a graph's state that is shared. Undefined if the values are not a state. */
  of(values: Readonly<Record<string, unknown>>): Record<string, unknown> | undefined {
    // Interrupts come in place of a state.
    if ('__interrupt__' in values && Object.keys(values).length === 1) return undefined
    const shown = Object.entries(values).filter(([key]) => !isHiddenKey(key) && !this.#isPrivate(key))
    return this.#toSafe(Object.fromEntries(shown), 'state') as Record<string, unknown>
  }

  /**
   * A copy of what the code of the graph sends, by the one rule for all that leaves a run. `what` names it in reports.
   * Undefined if it cannot be JSON: then it is not sent, and reported.
   */
  toSent(value: unknown, what: string): unknown {
    try {
      return toJson(value, what, standIn)
    } catch (error) {
      if (!MillraceError.isInstance(error)) throw error
      this.#reportOnce(what, `${error.logMessage} It was not sent.`)
      return undefined
    }
  }

  /** A copy of a value of the state, without what cannot be JSON. */
  #toSafe(value: unknown, what: string): unknown {
    return toJsonSafe(value, what, (path, problem) => {
      // Entries of a list are alike: one is reported for all.
      const key = path.replaceAll(/\[\d+\]/g, '[]')
      this.#reportOnce(key, `${path} is ${problem}, not JSON; it was left out`)
    })
  }

  #reportOnce(key: string, problem: string): void {
    if (this.#reported.has(key)) return
    this.#reported.add(key)
    this.#report(problem)
  }
}

/** LangChain messages are shown as AG-UI has them, not by the `toJSON` that says how to construct them. */
function standIn(value: object, key?: string | number): unknown {
  return BaseMessage.isInstance(value) ? toPlainMessage(value) : shownAs(value, key)
}

/** Messages are not part of the shared state. Keys like `__interrupt__` are LangGraph's own. */
function isHiddenKey(key: string): boolean {
  return key === 'messages' || key.startsWith('__')
}

/** JSON text of any value. Never throws. */
export function toSafeText(value: unknown): string {
  if (typeof value === 'string') return value
  return JSON.stringify(toShownValue(value) ?? null)
}

/** A value of a graph's state as it is shared. Undefined if nothing of it is. */
export function toShownValue(value: unknown): unknown {
  return toJsonSafe(value, '', () => undefined)
}

/** Called for each value that is left out. */
type OnLeftOut = (path: string, problem: string) => void

/**
 * A copy of a value that is JSON, by the rule of `toJson`. LangChain messages become plain objects. A graph's state may hold
 * anything, so what `toJson` refuses is left out here, and so are other class instances; in lists null takes their place.
 */
function toJsonSafe(value: unknown, path: string, onLeftOut: OnLeftOut): unknown {
  return copyValue(value, path, { onLeftOut, ancestors: new Set() })
}

interface Copying {
  readonly onLeftOut: OnLeftOut
  readonly ancestors: Set<object>
}

function copyValue(value: unknown, path: string, copying: Copying): unknown {
  switch (typeof value) {
    case 'bigint':
      return value.toString()
    case 'number':
      return Number.isFinite(value) ? value : null
    case 'function':
    case 'symbol':
      copying.onLeftOut(path, `a value of type ${typeof value}`)
      return undefined
    case 'object':
      return value === null ? null : copyObject(value, path, copying)
    default:
      return value
  }
}

function copyObject(value: object, path: string, copying: Copying): unknown {
  const { ancestors, onLeftOut } = copying
  const shown = ancestors.has(value) ? undefined : shownObject(value)
  if (shown === undefined) {
    onLeftOut(path, ancestors.has(value) ? 'a circle' : `a ${classNameOf(value)}`)
    return undefined
  }
  ancestors.add(value)
  const copy = shown === value ? copyMembers(value, path, copying) : copyValue(shown, path, copying)
  ancestors.delete(value)
  return copy
}

function copyMembers(value: object, path: string, copying: Copying): unknown {
  if (Array.isArray(value))
    return value.map((entry: unknown, index) => copyValue(entry, `${path}[${index}]`, copying) ?? null)
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

/** What stands for an object: itself if it is JSON. Undefined if nothing does. */
function shownObject(value: object): unknown {
  if (BaseMessage.isInstance(value)) return toPlainMessage(value)
  if (Array.isArray(value) || hasPlainPrototype(value)) return value
  // The `toJSON` of LangChain's own objects describes how to construct them, which is useless to clients.
  if ((value as { lc_serializable?: unknown }).lc_serializable !== undefined) return undefined
  try {
    const shown = shownAs(value)
    return shown === value ? undefined : shown
  } catch {
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
