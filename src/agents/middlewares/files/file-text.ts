import { toolError } from '../tool-error.js'
import { sliceWhole } from '../whole-characters.js'

const longestLine = 2_000

/** The text of a file, or undefined when it is none: it has zeros in it, or is not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    // The mark at the beginning is kept, to be there when the text is written again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** The text of a file. Throws TOOL_ERROR when it is none. */
export function toText(bytes: Uint8Array, path: string): string {
  const text = decodeText(bytes)
  if (text === undefined) throw toolError(`'${path}' is not text.`)
  return text
}

/** Without their ends, and without a last one that has nothing in it. */
export function splitLines(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export function cutLine(line: string, length = longestLine): string {
  return line.length <= length ? line : `${sliceWhole(line, 0, length)}... [cut]`
}

export interface LinesOptions {
  /** The first line, counted from 1. */
  readonly offset: number
  readonly limit: number
  readonly maxChars: number
}

/** A part of a text with numbered lines, and, when there is more of it, how to go on. */
export function numberLines(text: string, { offset, limit, maxChars }: LinesOptions): string {
  const lines = splitLines(text)
  if (lines.length === 0) return '[The file is empty.]'
  if (offset > lines.length) return `[The file ends at line ${lines.length}.]`
  const shown: string[] = []
  let chars = 0
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const numbered = `${String(offset + index).padStart(6)}\t${cutLine(line)}`
    chars += numbered.length + 1
    if (chars > maxChars && shown.length > 0) break
    shown.push(numbered)
  }
  const last = offset - 1 + shown.length
  if (last < lines.length)
    shown.push(`[Lines ${offset} to ${last} of ${lines.length}. Go on with offset ${last + 1}.]`)
  return shown.join('\n')
}
