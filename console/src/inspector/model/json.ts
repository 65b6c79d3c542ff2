/** Whether a value is an object with members: not null, not an array. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The type of an event, or undefined where it is none. */
export function typeOf(event: unknown): string | undefined {
  return isRecord(event) && typeof event.type === 'string' ? event.type : undefined
}

/** A member of an event that is a text. */
export function textOf(event: unknown, name: string): string | undefined {
  const value = isRecord(event) ? event[name] : undefined
  return typeof value === 'string' ? value : undefined
}

const maxPaths = 500

/**
 * JSON pointers of what differs in `after`: new and changed members and entries. What is the same object is not looked into,
 * so the cost follows the change. At most 500.
 */
export function changedPaths(before: unknown, after: unknown): ReadonlySet<string> {
  const paths = new Set<string>()
  const collect = (old: unknown, fresh: unknown, path: string): boolean => {
    if (Object.is(old, fresh) || paths.size >= maxPaths) return false
    if (!isContainer(old) || !isContainer(fresh) || Array.isArray(old) !== Array.isArray(fresh)) {
      paths.add(path)
      return true
    }
    let isChanged = Object.keys(old).some((key) => !Object.hasOwn(fresh, key))
    if (isChanged) paths.add(path)
    for (const [key, value] of Object.entries(fresh)) {
      const below = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
      if (Object.hasOwn(old, key)) isChanged = collect(old[key], value, below) || isChanged
      else {
        isChanged = true
        paths.add(below)
      }
    }
    return isChanged
  }
  collect(before, after, '')
  return paths
}

function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}
