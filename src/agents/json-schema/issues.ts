/** A problem with a value, short enough for a model. */
export interface SchemaIssue {
  /** The path from the root `$`: `$.guests[0].name`. */
  readonly path: string
  readonly message: string
}

// Libraries quote the value, which may be long. So may be the names in a path.
const longestText = 200
const mostIssues = 10

/** Makes an issue. `keys` is the path from the root; a number is an index. */
export function toIssue(keys: readonly PropertyKey[], message: string): SchemaIssue {
  const path = `$${keys.map(toPathSegment).join('')}`
  return { path: shorten(path), message: shorten(message) }
}

function shorten(text: string): string {
  return text.length > longestText ? `${text.slice(0, longestText)}...` : text
}

/** Issues as a list, one a line. Of very many, only the first ten. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  return shortList(issues)
    .map((line) => `- ${line}`)
    .join('\n')
}

/** The same in one line. */
export function joinIssues(issues: readonly SchemaIssue[]): string {
  return shortList(issues).join('; ')
}

function shortList(issues: readonly SchemaIssue[]): string[] {
  const lines = issues.slice(0, mostIssues).map(({ path, message }) => `${path}: ${message}`)
  const left = issues.length - lines.length
  return [...lines, ...(left > 0 ? [`and ${left} more`] : [])]
}

function toPathSegment(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`
  const name = String(key)
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}
