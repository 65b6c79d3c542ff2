/** A remark about one place in a request or an event, for example `messages[2].content[0]`. */
export interface FieldNote {
  readonly field: string
  readonly message: string
}

/** The keys and indices that lead to a place in a request or an event. */
export type FieldPath = readonly (string | number)[]

const plainName = /^[A-Za-z_$][\w$-]*$/
const maxQuoted = 60

/** Text in double quotes, escaped and cut, so that a foreign value can stand in a log line or an error. */
export function quote(text: string): string {
  return JSON.stringify(text.length > maxQuoted ? `${text.slice(0, maxQuoted)}…` : text)
}

/** Writes `['messages', 2, 'id']` as `messages[2].id`. The empty path is the request itself: `(body)`. */
export function formatPath(path: FieldPath): string {
  if (path.length === 0) return '(body)'
  let text = ''
  for (const key of path) {
    if (typeof key === 'number') text += `[${key}]`
    else if (!plainName.test(key) || key.length > maxQuoted) text += `[${quote(key)}]`
    else text += text === '' ? key : `.${key}`
  }
  return text
}

/** What a JSON value is, in the words of an error message. */
export function kindOf(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  return Array.isArray(value) ? 'array' : typeof value
}
