import { defineTool } from '../../tools/define-tool.js'
import type { Tool, ToolContext } from '../../contract.js'
import { createMatcher } from './line-matcher.js'
import { isToolError } from '../tool-error.js'
import { baseName, toFilePath } from './file-path.js'
import { createGlobMatcher } from './glob-matcher.js'
import { showPage, takePage } from './page.js'
import { searchFiles, type SearchMode } from './search-files.js'
import { walkFiles } from './walk-files.js'
import {
  folderPath,
  pagingParameters,
  toPaging,
  toParameters,
  type PagingArgs,
  type Workspace,
} from './workspace.js'

interface GlobArgs extends PagingArgs {
  readonly pattern: string
  readonly path?: string
}

/** The tool that finds files by their paths. */
export function globTool(workspace: Workspace): Tool {
  const description = 'What paths below the folder look like: *.md, src/**/*.ts, **/{a,b}?.txt'
  return defineTool<GlobArgs>({
    name: `${workspace.prefix}glob`,
    description: `Finds files by path. ** goes through folders.${left(workspace)}`,
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
      const { test } = createGlobMatcher(pattern)
      const skipped: string[] = []
      const paths = filesBelow(folder, { workspace, ctx, skipped, test })
      const page = await takePage(paths, toPaging(paging, workspace))
      return withSkipped(showPage(page, `[No file fits ${pattern}.]`), skipped)
    },
  })
}

interface GrepArgs extends PagingArgs {
  readonly pattern: string
  readonly path?: string
  readonly glob?: string
  readonly output_mode?: SearchMode
  readonly ignore_case?: boolean
}

/** The tool that finds files by what is in them. */
export function grepTool(workspace: Workspace): Tool {
  return defineTool<GrepArgs>({
    name: `${workspace.prefix}grep`,
    description: `Searches text files line by line.${left(workspace)}`,
    parameters: toParameters({ ...grepParameters, ...pagingParameters(workspace.maxResults) }, [
      ...['path', 'glob', 'output_mode', 'ignore_case', 'offset', 'limit'],
    ]),
    async execute({ pattern, path = '', glob, output_mode: mode = 'files', ...args }, ctx) {
      const place = toFilePath(path)
      const matcher = createMatcher(pattern, { ignoreCase: args.ignore_case ?? false })
      const { files, maxFileBytes: maxBytes } = workspace
      const skipped: string[] = []
      const onSkip = (one: string): void => void skipped.push(one)
      const paths = filesAt(place, { workspace, ctx, skipped, test: toFilter(glob) })
      const found = searchFiles(paths, { files, ctx, matcher, mode, maxBytes, onSkip })
      const page = await takePage(found, toPaging(args, workspace))
      return withSkipped(showPage(page, '[Nothing was found.]'), skipped)
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

/** Without a slash it is about the name of a file, wherever that is. */
function toFilter(glob: string | undefined): (path: string) => boolean {
  if (glob === undefined) return () => true
  const { test } = createGlobMatcher(glob)
  return glob.includes('/') ? test : (path) => test(baseName(path))
}

interface Finding {
  readonly workspace: Workspace
  readonly ctx: ToolContext
  readonly skipped: string[]
  /** Gets the path below the folder. */
  readonly test: (path: string) => boolean
}

async function* filesBelow(folder: string, finding: Finding): AsyncGenerator<string, void> {
  const { workspace, ctx, skipped, test } = finding
  const { files, ignore } = workspace
  const start = folder === '' ? 0 : folder.length + 1
  const paths = walkFiles(folder, { files, ctx, ignore, onSkip: (path) => void skipped.push(path) })
  for await (const path of paths) if (test(path.slice(start))) yield path
}

/** The files below a folder, or the file itself. */
async function* filesAt(place: string, finding: Finding): AsyncGenerator<string, void> {
  const { files, maxFileBytes: maxBytes } = finding.workspace
  if (await isFolder(place, finding)) return yield* filesBelow(place, finding)
  // If it is no file either, that is what is told.
  await files.read(place, finding.ctx, { maxBytes })
  yield place
}

async function isFolder(place: string, { workspace, ctx }: Finding): Promise<boolean> {
  try {
    await workspace.files.list(place, ctx)
    return true
  } catch (error) {
    if (place === '' || !isToolError(error)) throw error
    return false
  }
}

function left({ ignore }: Workspace): string {
  return ignore.length === 0 ? '' : ` Folders named ${ignore.join(', ')} are left out.`
}

function withSkipped(text: string, skipped: readonly string[]): string {
  if (skipped.length === 0) return text
  const some = skipped.slice(0, 5).join(', ')
  const more = skipped.length > 5 ? ` and ${skipped.length - 5} more` : ''
  return `${text}\n[Not searched, since too large, not text or not readable: ${some}${more}.]`
}
