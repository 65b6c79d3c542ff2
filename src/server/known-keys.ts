import { MillraceError } from '../core/errors.js'

/**
 * Throws INVALID_OPTIONS for a member that nothing reads, naming the known one that is most like it: a hook or a limit with a
 * typing error would silently do nothing.
 */
export function checkKeys(group: string, values: object, known: readonly string[]): void {
  for (const key of Object.keys(values)) {
    if (known.includes(key)) continue
    const option = group === '' ? key : `${group}.${key}`
    const near = nearestKey(key, known)
    const hint = near === undefined ? `Known are ${known.join(', ')}.` : `Did you mean \`${near}\`?`
    throw new MillraceError('INVALID_OPTIONS', `\`${option}\` is not an option. ${hint}`, {
      details: { option },
    })
  }
}

/** The known key with the fewest edits. Undefined when more than half of the letters would have to change. */
function nearestKey(key: string, known: readonly string[]): string | undefined {
  const [nearest] = known
    .map((name) => ({ name, edits: editDistance(key.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.edits - b.edits)
  return nearest && nearest.edits <= Math.max(key.length, nearest.name.length) / 2 ? nearest.name : undefined
}

/** How many letters have to be added, removed or replaced. */
function editDistance(from: string, to: string): number {
  // Only the row before is needed.
  let row = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let index = 0; index < from.length; index++) {
    const next = [index + 1]
    for (let at = 1; at <= to.length; at++) {
      const replaced = (row[at - 1] ?? 0) + (to[at - 1] === from[index] ? 0 : 1)
      next.push(Math.min(replaced, (row[at] ?? 0) + 1, (next[at - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
