/**
 * The names by which models know the client's tools, and back. A name is kept when models take it; others are cleaned
 * and made unique, always in the same way.
 */
export interface ToolNames {
  /** The name for the model. Undefined when it belongs to ADK. */
  readonly toModel: (wireName: string, prefix?: string) => string | undefined
  /** A name that a model knows a tool by, the first it was given. */
  readonly anyModel: (wireName: string) => string | undefined
  /** The client's name. Undefined for a name that is not of a tool of the client. */
  readonly toWire: (modelName: string) => string | undefined
}

const maxLength = 64
/** What every provider takes: Gemini alone would also take dots and colons. */
const refused = /[^A-Za-z0-9_-]/g
const own = new Set(['transfer_to_agent', 'set_model_response', 'finish_task'])

export function createToolNames(): ToolNames {
  const models = new Map<string, string>()
  const wires = new Map<string, string>()
  const first = new Map<string, string>()

  const toModel = (wireName: string, prefix = ''): string | undefined => {
    if (isReserved(wireName)) return undefined
    const key = JSON.stringify([prefix, wireName])
    const known = models.get(key)
    if (known !== undefined) return known
    const wanted = cleaned(prefix + wireName)
    if (isReserved(wanted)) return undefined
    let name = wanted
    for (let count = 2; wires.has(name); count += 1) {
      const suffix = `_${count}`
      name = wanted.slice(0, maxLength - suffix.length) + suffix
    }
    models.set(key, name)
    wires.set(name, wireName)
    if (!first.has(wireName)) first.set(wireName, name)
    return name
  }
  return { toModel, anyModel: (wireName) => first.get(wireName), toWire: (modelName) => wires.get(modelName) }
}

/** Names that ADK gives a meaning of its own. */
function isReserved(name: string): boolean {
  return own.has(name) || name.startsWith('adk_')
}

function cleaned(name: string): string {
  const safe = name.replace(refused, '_').slice(0, maxLength)
  const begun = /^[A-Za-z_]/.test(safe) ? safe : `_${safe}`.slice(0, maxLength)
  // ADK looks tools up in a plain object, which has a few members already.
  return begun in {} ? `${begun}_` : begun
}
