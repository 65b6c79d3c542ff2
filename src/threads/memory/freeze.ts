/**
 * Makes a JSON value unchangeable, all through, and gives it back. What is frozen already is taken to be so all
 * through, so the work is in proportion to what is new. Objects that JSON does not know stay as they are.
 */
export function deepFreeze<T>(value: T): T {
  // Not by recursion: the state of a thread may be nested deeper than the stack is.
  const open: unknown[] = [value]
  while (open.length > 0) {
    const node = open.pop()
    if (!isContainer(node) || Object.isFrozen(node)) continue
    Object.freeze(node)
    for (const member of Object.values(node)) if (typeof member === 'object') open.push(member)
  }
  return value
}

function isContainer(value: unknown): value is object {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
