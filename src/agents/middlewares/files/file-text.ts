import { sliceWhole } from '../slice-text.js'
import { toolError } from '../tool-error.js'

/** The text of a file; undefined if it contains zero bytes or is not UTF-8. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (bytes.includes(0)) return undefined
  try {
    // Keeps the byte order mark, so that it is still there when the text is written again.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Like `decodeText`, but throws TOOL_ERROR if the file is not text. */
export function toFileText(bytes: Uint8Array, path: string): string {
  const text = decodeText(bytes)
  if (text === undefined) throw toolError(`'${path}' is not text.`)
  return text
}

/** Without line ends, and without an empty last line. */
export function splitLines(text: string): string[] {
  const lines = text.replace(/^\uFEFF/, '').split(/\r?\n/)
  if (lines.at(-1) === '') lines.pop()
  return lines
}

export function cutLine(line: string, maxLength = 2_000): string {
  return line.length <= maxLength ? line : `${sliceWhole(line, 0, maxLength)}... [cut]`
}

export interface LinesOptions {
  /** The first line, counted from 1. */
  readonly offset: number
  readonly limit: number
  readonly maxChars: number
}

/** Lines with their numbers, and the next offset if there are more. */
export function formatLines(text: string, { offset, limit, maxChars }: LinesOptions): string {
  const lines = splitLines(text)
  if (lines.length === 0) return '[The file is empty.]'
  if (offset > lines.length) return `[The file ends at line ${lines.length}.]`
  const output: string[] = []
  let chars = 0
  for (const [index, line] of lines.slice(offset - 1, offset - 1 + limit).entries()) {
    const numbered = `${String(offset + index).padStart(6)}\t${cutLine(line)}`
    chars += numbered.length + 1
    if (chars > maxChars && output.length > 0) break
    output.push(numbered)
  }
  const last = offset - 1 + output.length
  if (last < lines.length)
    output.push(`[Lines ${offset} to ${last} of ${lines.length}. Go on with offset ${last + 1}.]`)
  return output.join('\n')
}

export interface TextEdit {
  readonly oldText: string
  readonly newText: string
  readonly replaceAll?: boolean
}

export interface EditedText {
  readonly text: string
  /** The number of replacements. */
  readonly count: number
}

/**
 * Replaces a passage that occurs once, or all its occurrences with `replaceAll`. In a text with CR LF, a passage with
 * plain line ends is found too, and its replacement gets CR LF. Throws TOOL_ERROR if it cannot.
 */
export function editText(text: string, edit: TextEdit): EditedText {
  const { oldText, newText, replaceAll = false } = edit
  if (oldText === '') throw toolError('The text to replace is empty. Give the text that is there now.')
  if (oldText === newText) throw toolError('The new text is the same as the old one.')
  const parts = text.split(oldText)
  const count = parts.length - 1
  if (count === 0 && text.includes('\r\n') && !oldText.includes('\r'))
    if (oldText.includes('\n')) return editText(text, withCrLf(edit))
  if (count === 0)
    throw toolError('The text to replace is not there. It must be the same to the letter, spaces included.')
  if (count > 1 && !replaceAll)
    throw toolError(
      `The text to replace is there ${count} times. Give more of what is around it, or replace all.`,
    )
  return { text: parts.join(newText), count }
}

function withCrLf({ oldText, newText, ...edit }: TextEdit): TextEdit {
  return { ...edit, oldText: oldText.replaceAll('\n', '\r\n'), newText: newText.replaceAll(/\r?\n/g, '\r\n') }
}
