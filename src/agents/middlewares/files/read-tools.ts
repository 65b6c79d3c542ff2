import { defineTool } from '../../tools/define-tool.js'
import type { Tool } from '../../contract.js'
import { toFilePath, toNamedPath } from './file-path.js'
import { numberLines, toText } from './file-text.js'
import type { FileEntry } from './files.js'
import { showPage, takePage } from './page.js'
import { sortEntries } from './walk-files.js'
import {
  filePath,
  folderPath,
  pagingParameters,
  toPaging,
  toParameters,
  type PagingArgs,
  type Workspace,
} from './workspace.js'

const marks: Readonly<Record<FileEntry['kind'], string>> = { file: '', folder: '/', link: '@' }

/** The tool that lists a folder. */
export function lsTool(workspace: Workspace): Tool {
  return defineTool<PagingArgs & { readonly path?: string }>({
    name: `${workspace.prefix}ls`,
    description: 'Lists a folder. Names of folders end with /, names of links with @.',
    parameters: toParameters({ path: folderPath, ...pagingParameters(workspace.maxResults) }, [
      'path',
      'offset',
      'limit',
    ]),
    async execute({ path = '', ...paging }, ctx) {
      const entries = sortEntries(await workspace.files.list(toFilePath(path), ctx))
      const names = entries.map(({ name, kind }) => name + marks[kind])
      return showPage(await takePage(names, toPaging(paging, workspace)), '[There is nothing here.]')
    },
  })
}

const pageLines = 2_000

interface ReadArgs {
  readonly path: string
  readonly offset?: number
  readonly limit?: number
}

/** The tool that reads a file. */
export function readFileTool({ files, prefix, maxFileBytes, maxChars }: Workspace): Tool {
  return defineTool<ReadArgs>({
    name: `${prefix}read_file`,
    description: 'Reads a text file. Every line is given with its number and a tab before it.',
    parameters: toParameters({ path: filePath, ...lineParameters }, ['offset', 'limit']),
    async execute({ path, offset = 1, limit = pageLines }, ctx) {
      const named = toNamedPath(path)
      const text = toText(await files.read(named, ctx, { maxBytes: maxFileBytes }), named)
      return numberLines(text, { offset, limit: Math.min(limit, pageLines), maxChars })
    },
  })
}

/** The arguments that choose a part of a file. */
export const lineParameters = {
  offset: { type: 'integer', minimum: 1, description: 'The first line to read: 1 unless given.' },
  limit: {
    type: 'integer',
    minimum: 1,
    description: `How many lines to read: ${pageLines} unless given, and at most.`,
  },
} as const
