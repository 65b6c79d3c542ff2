import { setImmediate } from 'node:timers/promises'
import type { Matcher } from './line-matcher.js'
import { isToolError } from '../tool-error.js'
import { cutLine, decodeText, splitLines } from './file-text.js'
import type { Files, FilesContext } from './files.js'

export type SearchMode = 'files' | 'content' | 'count'

export interface SearchOptions {
  readonly files: Files
  readonly ctx: FilesContext
  readonly matcher: Matcher
  readonly mode: SearchMode
  readonly maxBytes: number
  /** Told of every file that was not searched: it is too large, not text, or cannot be read. */
  readonly onSkip: (path: string) => void
}

const longestLine = 500
const charsAtOnce = 100_000

/** What is found in files, one result at a time: a path, `path:line: text`, or `path: count`. */
export async function* searchFiles(
  paths: AsyncIterable<string> | Iterable<string>,
  options: SearchOptions,
): AsyncGenerator<string, void> {
  for await (const path of paths) {
    options.ctx.signal.throwIfAborted()
    const text = await textOrSkip(path, options)
    if (text !== undefined) yield* searchText(path, text, options)
  }
}

async function textOrSkip(path: string, options: SearchOptions): Promise<string | undefined> {
  const { files, ctx, maxBytes, onSkip } = options
  try {
    const text = decodeText(await files.read(path, ctx, { maxBytes }))
    if (text === undefined) onSkip(path)
    return text
  } catch (error) {
    if (!isToolError(error)) throw error
    onSkip(path)
    return undefined
  }
}

async function* searchText(
  path: string,
  text: string,
  { matcher, mode, ctx }: SearchOptions,
): AsyncGenerator<string, void> {
  let count = 0
  let chars = 0
  for (const [index, line] of splitLines(text).entries()) {
    chars += line.length
    // Others have work to do too.
    if (chars > charsAtOnce) chars = await setImmediate(0, { signal: ctx.signal })
    if (!matcher.test(line)) continue
    count++
    if (mode === 'content') yield `${path}:${index + 1}: ${cutLine(line, longestLine)}`
    if (mode !== 'files') continue
    yield path
    return
  }
  if (mode === 'count' && count > 0) yield `${path}: ${count}`
}
