/** What may come next in a JSON text. */
type Wanted = 'value' | 'key' | 'colon' | 'comma'

interface Scan {
  readonly text: string
  /** The brackets that must close what is open, the innermost last. */
  readonly open: string[]
  at: number
  wanted: Wanted
  /** The bracket just passed was an opening one, so a closing one may follow at once. */
  fresh: boolean
}

const space = /[ \t\n\r]*/y
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y
const plainCharacters = /[ !#-[\]-\uffff]*/y
const escaped = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

/**
 * Where a text stops being JSON: the index of the first character or word that cannot stand there, or its length when
 * it ends too early. Undefined when it is JSON. `JSON.parse` does not always tell, and what it tells quotes the text.
 */
export function findJsonError(text: string): number | undefined {
  const scan: Scan = { text, open: [], at: 0, wanted: 'value', fresh: false }
  for (;;) {
    scan.at = endOf(space, text, scan.at) ?? scan.at
    if (scan.at === text.length)
      return scan.wanted === 'comma' && scan.open.length === 0 ? undefined : scan.at
    if (!step(scan)) return scan.at
  }
}

/** Passes one token. False when it cannot stand there; then `at` is where the trouble is. */
function step(scan: Scan): boolean {
  const { text, open, wanted, fresh } = scan
  const char = text[scan.at]
  scan.fresh = false
  if (char === open.at(-1) && (fresh || wanted === 'comma')) {
    open.pop()
    return pass(scan, 'comma')
  }
  switch (wanted) {
    case 'comma':
      return char === ',' && open.length > 0 && pass(scan, open.at(-1) === '}' ? 'key' : 'value')
    case 'colon':
      return char === ':' && pass(scan, 'value')
    case 'key':
      return char === '"' && passString(scan, 'colon')
    case 'value':
      return passValue(scan, char)
  }
}

function passValue(scan: Scan, char: string | undefined): boolean {
  if (char === '"') return passString(scan, 'comma')
  if (char === '{' || char === '[') {
    scan.open.push(char === '{' ? '}' : ']')
    scan.fresh = true
    return pass(scan, char === '{' ? 'key' : 'value')
  }
  const end = endOf(scalar, scan.text, scan.at)
  if (end === undefined) return false
  scan.at = end
  scan.wanted = 'comma'
  return true
}

function passString(scan: Scan, next: Wanted): boolean {
  scan.at++
  for (;;) {
    scan.at = endOf(plainCharacters, scan.text, scan.at) ?? scan.at
    if (scan.text[scan.at] === '"') return pass(scan, next)
    const end = endOf(escaped, scan.text, scan.at)
    if (end === undefined) return false
    scan.at = end
  }
}

function pass(scan: Scan, next: Wanted): boolean {
  scan.at++
  scan.wanted = next
  return true
}

function endOf(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}
