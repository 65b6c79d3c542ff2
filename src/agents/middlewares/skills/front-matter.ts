/** A text with front matter: what stands between two lines of `---` at its beginning, and the rest. */
export interface FrontMatter {
  readonly fields: ReadonlyMap<string, Field>
  readonly body: string
}

/** A text, or something with a structure of its own, which is not read. */
type Field = { readonly text: string } | { readonly text?: undefined }

/**
 * Reads the part of YAML that front matter is written in: `key: value` lines, quoted or not, and blocks with `|` and `>`.
 * Lists and maps are passed over. Throws an `Error` that names the line when it is anything else.
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

function readFields(lines: readonly string[]): Map<string, Field> {
  const fields = new Map<string, Field>()
  for (let index = 1; index < lines.length;) {
    const line = lines[index] ?? ''
    const next = endOfEntry(lines, index + 1)
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

/** Up to the next line that is not indented. Lists may stand without indentation. */
function endOfEntry(lines: readonly string[], start: number): number {
  const end = lines.findIndex((line, index) => index >= start && !/^(?:\s|-\s|-$|$)/.test(line))
  return end === -1 ? lines.length : end
}

function readValue(value: string, below: readonly string[], place: string): Field {
  const first = withoutComment(value)
  const rest = below.filter((line) => !isBlank(line))
  if (/^[|>][+-]?$/.test(first)) return { text: first.startsWith('|') ? literal(below) : folded(below) }
  if (/^["']/.test(first)) {
    if (rest.length > 0) throw new Error(`${place} has a quoted text that goes on in the next line`)
    return { text: unquoted(value.trim(), place) }
  }
  if (/^[[{]/.test(first) || rest.some((line) => /^\s*-\s|^\s+[\w-]+:(?:\s|$)/.test(line) && first === ''))
    return {}
  if (/^[&*!%@`|>]/.test(first)) throw new Error(`${place} has a text that needs quotes`)
  return { text: [first, ...rest.map((line) => withoutComment(line.trim()))].join(' ').trim() }
}

function isBlank(line: string): boolean {
  return /^\s*(?:#.*)?$/.test(line)
}

function withoutComment(value: string): string {
  return value.replace(/(?:^|\s)#.*$/, '').trim()
}

function unquoted(value: string, place: string): string {
  const [, single] = /^'((?:[^']|'')*)'\s*(?:#.*)?$/.exec(value) ?? []
  if (single !== undefined) return single.replaceAll("''", "'")
  const [, double] = /^("(?:[^"\\]|\\.)*")\s*(?:#.*)?$/.exec(value) ?? []
  try {
    if (double !== undefined) return JSON.parse(double) as string
  } catch {
    // Told below.
  }
  throw new Error(`${place} has a quoted text that is not closed, or has something behind it`)
}

/** Lines as they are, without the indentation of the first. */
function literal(lines: readonly string[]): string {
  const [indentation = ''] = /^\s*/.exec(lines.find((line) => line.trim() !== '') ?? '') ?? []
  return lines
    .map((line) => (line.startsWith(indentation) ? line.slice(indentation.length) : line.trimStart()))
    .join('\n')
    .trim()
}

/** Lines as one; an empty one ends a paragraph. */
function folded(lines: readonly string[]): string {
  return literal(lines)
    .split(/\n{2,}/)
    .map((paragraph) => paragraph.replaceAll('\n', ' '))
    .join('\n')
}
