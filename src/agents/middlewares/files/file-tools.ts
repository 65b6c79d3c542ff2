import type { Tool } from '../../contract.js'
import { defineTool } from '../../tools/define-tool.js'
import { toolError } from '../tool-error.js'
import { editText, formatLines, splitLines, toFileText } from './file-text.js'
import { toFilePath, toNamedPath, type FileEntry, type Files } from './files.js'
import { sortEntries } from './walk-files.js'
import {
  filePath,
  folderPath,
  formatPage,
  lineParameters,
  pagingParameters,
  takePage,
  toPageOptions,
  toParameters,
  type PagingArgs,
  type Workspace,
} from './workspace.js'

const suffixes: Readonly<Record<FileEntry['kind'], string>> = { file: '', folder: '/', link: '@' }

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
      const names = entries.map(({ name, kind }) => name + suffixes[kind])
      return formatPage(await takePage(names, toPageOptions(paging, workspace)), '[There is nothing here.]')
    },
  })
}

const maxLines = 2_000

interface ReadFileArgs {
  readonly path: string
  readonly offset?: number
  readonly limit?: number
}

export function readFileTool({ files, prefix, maxFileBytes, maxChars }: Workspace): Tool {
  return defineTool<ReadFileArgs>({
    name: `${prefix}read_file`,
    description: 'Reads a text file. Every line is given with its number and a tab before it.',
    parameters: toParameters({ path: filePath, ...lineParameters(maxLines) }, ['offset', 'limit']),
    async execute({ path, offset = 1, limit = maxLines }, ctx) {
      const named = toNamedPath(path)
      const text = toFileText(await files.read(named, ctx, { maxBytes: maxFileBytes }), named)
      return formatLines(text, { offset, limit: Math.min(limit, maxLines), maxChars })
    },
  })
}

export type WriteFile = NonNullable<Files['write']>

interface WriteFileArgs {
  readonly path: string
  readonly content: string
}

export function writeFileTool(workspace: Workspace, write: WriteFile): Tool {
  return defineTool<WriteFileArgs>({
    name: `${workspace.prefix}write_file`,
    description: 'Writes a whole file: makes it, and the folders it is in, or replaces what was in it.',
    parameters: toParameters({ path: filePath, content: { type: 'string', description: 'The whole text.' } }),
    async execute({ path, content }, ctx) {
      const named = toNamedPath(path)
      checkSize(named, content, workspace)
      await workspace.runInOrder(named, async () => {
        // The run may have been cancelled while this change waited.
        ctx.signal.throwIfAborted()
        await write(named, content, ctx)
      })
      return `Wrote ${countOf(splitLines(content).length, 'line')} to '${named}'.`
    },
  })
}

interface EditFileArgs {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

export function editFileTool(workspace: Workspace, write: WriteFile): Tool {
  const { files, maxFileBytes: maxBytes } = workspace
  return defineTool<EditFileArgs>({
    name: `${workspace.prefix}edit_file`,
    description:
      'Replaces a part of a text file. The part must be given to the letter, without line numbers, and be there once.',
    parameters: toParameters(
      {
        path: filePath,
        old_string: { type: 'string', description: 'The text that is there now.' },
        new_string: { type: 'string', description: 'The text to put in its place. Empty to remove it.' },
        replace_all: { type: 'boolean', description: 'Replaces it everywhere it is.' },
      },
      ['replace_all'],
    ),
    async execute({ path, old_string: oldText, new_string: newText, replace_all: replaceAll = false }, ctx) {
      const named = toNamedPath(path)
      return workspace.runInOrder(named, async () => {
        const before = toFileText(await files.read(named, ctx, { maxBytes }), named)
        const { text, count } = editText(before, { oldText, newText, replaceAll })
        checkSize(named, text, workspace)
        ctx.signal.throwIfAborted()
        await write(named, text, ctx)
        return `Changed ${countOf(count, 'place')} in '${named}'.`
      })
    },
  })
}

function checkSize(path: string, text: string, { maxFileBytes }: Workspace): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxFileBytes) return
  throw toolError(`'${path}' would have ${bytes} bytes. A file may have ${maxFileBytes}; write several.`)
}

function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
