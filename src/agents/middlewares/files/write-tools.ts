import { defineTool } from '../../tools/define-tool.js'
import type { Tool } from '../../contract.js'
import { toolError } from '../tool-error.js'
import { editText } from './edit-text.js'
import { toNamedPath } from './file-path.js'
import { splitLines, toText } from './file-text.js'
import type { Files } from './files.js'
import { filePath, toParameters, type Workspace } from './workspace.js'

/** How a workspace is written to. */
export type WriteFile = NonNullable<Files['write']>

interface WriteArgs {
  readonly path: string
  readonly content: string
}

/** The tool that writes a whole file. */
export function writeFileTool(workspace: Workspace, write: WriteFile): Tool {
  return defineTool<WriteArgs>({
    name: `${workspace.prefix}write_file`,
    description: 'Writes a whole file: makes it, and the folders it is in, or replaces what was in it.',
    parameters: toParameters({ path: filePath, content: { type: 'string', description: 'The whole text.' } }),
    async execute({ path, content }, ctx) {
      const named = toNamedPath(path)
      assertFits(named, content, workspace)
      await workspace.inTurn(named, async () => {
        // The run may have been cancelled while others had their turn.
        ctx.signal.throwIfAborted()
        await write(named, content, ctx)
      })
      return `Wrote ${plural(splitLines(content).length, 'line')} to '${named}'.`
    },
  })
}

interface EditArgs {
  readonly path: string
  readonly old_string: string
  readonly new_string: string
  readonly replace_all?: boolean
}

/** The tool that changes a part of a file. */
export function editFileTool(workspace: Workspace, write: WriteFile): Tool {
  const { files, maxFileBytes: maxBytes } = workspace
  return defineTool<EditArgs>({
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
      return workspace.inTurn(named, async () => {
        const before = toText(await files.read(named, ctx, { maxBytes }), named)
        const { text, count } = editText(before, { oldText, newText, replaceAll })
        assertFits(named, text, workspace)
        ctx.signal.throwIfAborted()
        await write(named, text, ctx)
        return `Changed ${plural(count, 'place')} in '${named}'.`
      })
    },
  })
}

function assertFits(path: string, text: string, { maxFileBytes }: Workspace): void {
  const bytes = Buffer.byteLength(text)
  if (bytes <= maxFileBytes) return
  throw toolError(`'${path}' would have ${bytes} bytes. A file may have ${maxFileBytes}; write several.`)
}

function plural(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`
}
