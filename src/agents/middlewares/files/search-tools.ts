import { setImmediate } from 'node:timers/promises'
import type { Tool, ToolContext } from '../../contract.js'
import { defineTool } from '../../tools/define-tool.js'
import { hasToolErrorCode } from '../tool-error.js'
import { cutLine, decodeText, splitLines } from './file-text.js'
import { toFilePath } from './files.js'
import { compileGlob, compileRegex, type Matches } from './patterns.js'
import { walkFiles } from './walk-files.js'
import {
  folderPath,
  formatPage,
  pagingParameters,
  takePage,
  toPageOptions,
  toParameters,
  type PagingArgs,
  type Workspace,
} from './workspace.js'

/** One call of a search tool. */
interface Search {
  readonly workspace: Workspace
  readonly ctx: ToolContext
  /** Paths that could not be searched. */
  readonly skipped: string[]
  /** Tests the path below the folder. */
  readonly isWanted: Matches
}

interface GlobArgs extends PagingArgs {
  readonly pattern: string
  readonly path?: string
}

/** Finds files by path. */
export function globTool(workspace: Workspace): Tool {
  const description = 'What paths below the folder look like: *.md, src/**/*.ts, **/{a,b}?.txt'
  return defineTool<GlobArgs>({
    name: `${workspace.prefix}glob`,
    description: `Finds files by path. ** goes through folders.${ignoredNote(workspace)}`,
    parameters: toParameters(
      {
        pattern: { type: 'string', description },
        path: folderPath,
        ...pagingParameters(workspace.maxResults),
      },
      ['path', 'offset', 'limit'],
    ),
    async execute({ pattern, path = '', ...paging }, ctx) {
      const folder = toFilePath(path)
      const search: Search = { workspace, ctx, skipped: [], isWanted: compileGlob(pattern) }
      const page = await takePage(filesBelow(folder, search), toPageOptions(paging, workspace))
      return withSkippedNote(formatPage(page, `[No file fits ${pattern}.]`), search)
    },
  })
}

type GrepMode = 'files' | 'content' | 'count'

interface GrepArgs extends PagingArgs {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly output_mode?: GrepMode
  readonly ignore_case?: boolean
}

/** Finds files by content. */
export function grepTool(workspace: Workspace): Tool {
  return defineTool<GrepArgs>({
    name: `${workspace.prefix}grep`,
    description: `Searches text files line by line.${ignoredNote(workspace)}`,
    parameters: toParameters({ ...grepParameters, ...pagingParameters(workspace.maxResults) }, [
      ...['path', 'glob', 'output_mode', 'ignore_case', 'offset', 'limit'],
    ]),
    async execute({ pattern, path = '', glob, output_mode: mode = 'files', ...args }, ctx) {
      const start = toFilePath(path)
      const matches = compileRegex(pattern, { ignoreCase: args.ignore_case ?? false })
      const search: Search = { workspace, ctx, skipped: [], isWanted: compileFileFilter(glob) }
      const found = searchFiles(filesAt(start, search), { ...search, matches, mode })
      const page = await takePage(found, toPageOptions(args, workspace))
      return withSkippedNote(formatPage(page, '[Nothing was found.]'), search)
    },
  })
}

const grepParameters = {
  pattern: {
    type: 'string',
    description: 'A regular expression, without back references and looking around.',
  },
  path: { type: 'string', description: 'The file or folder to search: everything unless given.' },
  glob: {
    type: 'string',
    description: 'Searches only files that look like this: *.ts by name, src/**/*.ts by path.',
  },
  output_mode: {
    enum: ['files', 'content', 'count'],
    description:
      'What to give: paths (unless told), lines with their numbers, or how many lines in each file.',
  },
  ignore_case: { type: 'boolean', description: 'Leaves letter case aside.' },
} as const

/** A glob without a slash matches the name of a file in any folder. */
function compileFileFilter(glob: string | undefined): Matches {
  if (glob === undefined) return () => true
  const matches = compileGlob(glob)
  return glob.includes('/') ? matches : (path) => matches(path.slice(path.lastIndexOf('/') + 1))
}

async function* filesBelow(folder: string, search: Search): AsyncGenerator<string, void> {
  const { workspace, ctx, skipped, isWanted } = search
  const { files, ignore } = workspace
  const start = folder === '' ? 0 : folder.length + 1
  const paths = walkFiles(folder, { files, ctx, ignore, onSkip: (path) => void skipped.push(path) })
  for await (const path of paths) if (isWanted(path.slice(start))) yield path
}

/** The files below a folder, or the file itself. */
async function* filesAt(path: string, search: Search): AsyncGenerator<string, void> {
  const { files, maxFileBytes: maxBytes } = search.workspace
  if (await isFolder(path, search)) return yield* filesBelow(path, search)
  // Throws if it is not a file either.
  await files.read(path, search.ctx, { maxBytes })
  yield path
}

async function isFolder(path: string, { workspace, ctx }: Search): Promise<boolean> {
  try {
    await workspace.files.list(path, ctx)
    return true
  } catch (error) {
    if (path === '' || !hasToolErrorCode(error)) throw error
    return false
  }
}

interface ContentSearch extends Search {
  readonly matches: Matches
  readonly mode: GrepMode
}

/** Yields a path, `path:line: text`, or `path: count` for each match, depending on the mode. */
async function* searchFiles(
  paths: AsyncIterable<string>,
  search: ContentSearch,
): AsyncGenerator<string, void> {
  for await (const path of paths) {
    search.ctx.signal.throwIfAborted()
    const text = await readOrSkip(path, search)
    if (text !== undefined) yield* searchText(path, text, search)
  }
}

async function readOrSkip(path: string, { workspace, ctx, skipped }: Search): Promise<string | undefined> {
  const { files, maxFileBytes: maxBytes } = workspace
  try {
    const text = decodeText(await files.read(path, ctx, { maxBytes }))
    if (text === undefined) skipped.push(path)
    return text
  } catch (error) {
    if (!hasToolErrorCode(error)) throw error
    skipped.push(path)
    return undefined
  }
}

const maxMatchLength = 500
const charsPerSlice = 100_000

async function* searchText(
  path: string,
  text: string,
  { matches, mode, ctx }: ContentSearch,
): AsyncGenerator<string, void> {
  let count = 0
  let chars = 0
  for (const [index, line] of splitLines(text).entries()) {
    chars += line.length
    // Yields to other work of the process.
    if (chars > charsPerSlice) chars = await setImmediate(0, { signal: ctx.signal })
    if (!matches(line)) continue
    count++
    if (mode === 'content') yield `${path}:${index + 1}: ${cutLine(line, maxMatchLength)}`
    if (mode !== 'files') continue
    yield path
    return
  }
  if (mode === 'count' && count > 0) yield `${path}: ${count}`
}

function ignoredNote({ ignore }: Workspace): string {
  return ignore.length === 0 ? '' : ` Folders named ${ignore.join(', ')} are left out.`
}

function withSkippedNote(text: string, { skipped }: Search): string {
  if (skipped.length === 0) return text
  const some = skipped.slice(0, 5).join(', ')
  const more = skipped.length > 5 ? ` and ${skipped.length - 5} more` : ''
  return `${text}\n[Not searched, since too large, not text or not readable: ${some}${more}.]`
}
