/** Front matter stands between two lines of `---` at the beginning of a text; the rest is the body. */
export interface FrontMatter {
  readonly fields: ReadonlyMap<string, FrontMatterField>
  readonly body: string
}

/** Without a text for lists and maps, which are not read. */
type FrontMatterField = { readonly text: string } | { readonly text?: undefined }

/**
 * Reads the subset of YAML that front matter uses: `key: value` lines, quoted or not, and blocks with `|` and `>`.
 * Ignores lists and maps. Throws an `Error` that names the line for anything else.
 */
export function parseFrontMatter(source: string): FrontMatter {
  const lines = source.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines[0]?.trimEnd() !== '---') throw new Error("it must begin with a line '---'")
  const end = lines.findIndex((line, index) => index > 0 && line.trimEnd() === '---')
  if (end === -1) throw new Error("there is no second line '---'")
  return {
    fields: readFields(lines.slice(0, end)),
    body: lines
      .slice(end + 1)
      .join('\n')
      .trim(),
  }
}

function readFields(lines: readonly string[]): Map<string, FrontMatterField> {
  const fields = new Map<string, FrontMatterField>()
  for (let index = 1; index < lines.length;) {
    const line = lines[index] ?? ''
    const next = findEntryEnd(lines, index + 1)
    if (!isBlank(line)) {
      const [, key = '', value = ''] = /^([A-Za-z_][\w-]*):(?:\s+(.*))?$/.exec(line) ?? []
      if (key === '') throw new Error(`line ${index + 1} is not 'key: value'`)
      if (fields.has(key)) throw new Error(`line ${index + 1} has '${key}' for the second time`)
      fields.set(key, readValue(value, lines.slice(index + 1, next), `line ${index + 1}`))
    }
    index = next
  }
  return fields
}

/** An entry ends before the next line that is not indented. Lists may stand without indentation. */
function findEntryEnd(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, index) => index >= start && !/^(?:\s|-\s|-$|$)/.test(line))
  return end === -1 ? lines.length : end
}

function readValue(value: string, below: readonly string[], where: string): FrontMatterField {
  const first = withoutComment(value)
  const rest = below.filter((line) => !isBlank(line))
  if (/^[|>][+-]?$/.test(first))
    return { text: first.startsWith('|') ? readLiteral(below) : readFolded(below) }
  if (/^["']/.test(first)) {
    if (rest.length > 0) throw new Error(`${where} has a quoted text that goes on in the next line`)
    return { text: unquote(value.trim(), where) }
  }
  if (/^[[{]/.test(first) || rest.some((line) => /^\s*-\s|^\s+[\w-]+:(?:\s|$)/.test(line) && first === ''))
    return {}
  if (/^[&*!%@`|>]/.test(first)) throw new Error(`${where} has a text that needs quotes`)
  return { text: [first, ...rest.map((line) => withoutComment(line.trim()))].join(' ').trim() }
}

function isBlank(line: string): boolean {
  return /^\s*(?:#.*)?$/.test(line)
}

function withoutComment(value: string): string {
  return value.replace(/(?:^|\s)#.*$/, '').trim()
}

function unquote(value: string, where: string): string {
  const [, single] = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(value) ?? []
  if (single !== undefined) return single.replaceAll("''", "'")
  const [, double] = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(value) ?? []
  try {
    if (double !== undefined) return JSON.parse(double) as string
  } catch {
    // Reported below.
  }
  throw new Error(`${where} has a quoted text that is not closed, or has something behind it`)
}

/** Keeps the lines, without the indentation of the first. */
function readLiteral(lines: readonly string[]): string {
  const [indentation = ''] = /^\s*/.exec(lines.find((line) => line.trim() !== '') ?? '') ?? []
  return lines
    .map((line) => (line.startsWith(indentation) ? line.slice(indentation.length) : line.trimStart()))
    .join('\n')
    .trim()
}

/** Joins the lines of a paragraph; an empty line ends it. */
function readFolded(lines: readonly string[]): string {
  return readLiteral(lines)
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n')
}
