/**
 * The length of a JSON value as text, about: escapes do not count. Never builds the text, and takes no more of the call stack
 * for a deep value. Stops counting above `most`, so that a limit costs no more than the limit.
 */
export function jsonSize(value: unknown, most = Infinity): number {
  if (typeof value !== 'object' || value === null) return scalarSize(value)
  const open: object[] = [value]
  let size = 0
  for (let node = open.pop(); node !== undefined && size <= most; node = open.pop()) {
    // The brackets, without the comma after the last member.
    size += 1
    if (Array.isArray(node))
      for (const member of node as readonly unknown[]) size += 1 + memberSize(member, open)
    else
      for (const key in node) {
        const member: unknown = (node as Readonly<Record<string, unknown>>)[key]
        if (member !== undefined) size += key.length + 4 + memberSize(member, open)
      }
  }
  return size
}

function memberSize(member: unknown, open: object[]): number {
  if (typeof member === 'string') return member.length + 2
  if (typeof member !== 'object' || member === null) return scalarSize(member)
  open.push(member)
  return 0
}

function scalarSize(value: unknown): number {
  switch (typeof value) {
    case 'string':
      return value.length + 2
    case 'number':
      return Number.isInteger(value) && value >= 0 && value < 10 ? 1 : String(value).length
    case 'boolean':
      return value ? 4 : 5
    default:
      return 4
  }
}
