/** One thing that is wrong with a value, short enough to be shown to a model. */
export interface SchemaIssue {
  /** Where it is, from the root `$`: `$.guests[0].name`. */
  readonly path: string
  readonly message: string
}

// Libraries quote what they got, which may be long.
const longestMessage = 200
const mostIssues = 10

/** Makes an issue. `keys` leads from the root to the place; a number is an index. */
export function toIssue(keys: readonly PropertyKey[], message: string): SchemaIssue {
  const text = message.length > longestMessage ? `${message.slice(0, longestMessage)}...` : message
  return { path: `$${keys.map(toStep).join('')}`, message: text }
}

/** Issues as a list for a model or a person, one a line. Of very many, only the first. */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const lines = issues.slice(0, mostIssues).map(({ path, message }) => `- ${path}: ${message}`)
  const left = issues.length - lines.length
  return [...lines, ...(left > 0 ? [`- and ${left} more`] : [])].join('\n')
}

function toStep(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`
  const name = String(key)
  return /^[A-Za-z_$][\w$]*$/.test(name) ? `.${name}` : `[${JSON.stringify(name)}]`
}
