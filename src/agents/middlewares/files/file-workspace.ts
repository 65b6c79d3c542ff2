import { MillraceError } from '../../../core/errors.js'
import { checkNumber } from '../../check-number.js'
import type { Middleware } from '../../chat/middleware.js'
import type { Tool } from '../../contract.js'
import { addInstructions } from '../add-instructions.js'
import { diskFiles } from './disk-files.js'
import type { Files } from './files.js'
import { globTool, grepTool } from './find-tools.js'
import { createTurns } from './in-turn.js'
import { lsTool, readFileTool } from './read-tools.js'
import type { Workspace } from './workspace.js'
import { editFileTool, writeFileTool } from './write-tools.js'

interface FileWorkspaceSettings {
  /** Leaves out the tools that write. */
  readonly readOnly?: boolean
  /** Stands before the name of every tool, to tell workspaces apart: `memory_`. */
  readonly prefix?: string
  /** What the model is told of the workspace: what is in it, what to keep there. */
  readonly instructions?: string
  /** Names of folders that `glob` and `grep` leave out: `.git` and `node_modules` unless told. */
  readonly ignore?: readonly string[]
  /** The largest file that is read or written: 1,000,000 bytes unless told. */
  readonly maxFileBytes?: number
  /** How many results `ls`, `glob` and `grep` give at once: 200 unless told. */
  readonly maxResults?: number
}

/** A folder on disk, or any other place for files. */
export type FileWorkspaceOptions = FileWorkspaceSettings &
  (
    | { readonly root: string; readonly backend?: undefined }
    | { readonly backend: Files; readonly root?: undefined }
  )

// Below what `offloadResults` takes for too much.
const maxChars = 40_000

/**
 * Gives an agent files to work with: the tools `ls`, `read_file`, `write_file`, `edit_file`, `glob` and `grep`. Paths are
 * relative, with `/`; absolute ones and those with `..` are refused. Changes of one file are made one after the other,
 * also when the model asks for several at once. Throws INVALID_AGENT when the options make no sense.
 *
 * @example
 * const agent = defineAgent({ name: 'writer', model, middlewares: [fileWorkspace({ root: './drafts' })] })
 */
export function fileWorkspace(options: FileWorkspaceOptions): Middleware {
  const { root, backend, prefix = '', readOnly = false, instructions = '' } = options
  const { ignore = ['.git', 'node_modules'], maxFileBytes = 1_000_000, maxResults = 200 } = options
  checkNumber('maxFileBytes', maxFileBytes, { min: 1, isInteger: true })
  checkNumber('maxResults', maxResults, { min: 1, isInteger: true })
  const files = backend ?? diskFiles(checkRoot(root))
  const workspace = { files, prefix, ignore, maxFileBytes, maxResults, maxChars, inTurn: createTurns() }
  const tools = workspaceTools(workspace, readOnly)
  return {
    async onStart(setup) {
      await files.ready?.()
      return {
        instructions: addInstructions(setup.instructions, instructions),
        tools: [...setup.tools, ...tools],
      }
    },
  }
}

function workspaceTools(workspace: Workspace, readOnly: boolean): Tool[] {
  const { files } = workspace
  const reading = [lsTool(workspace), readFileTool(workspace), globTool(workspace), grepTool(workspace)]
  if (readOnly || files.write === undefined) return reading
  const write = files.write.bind(files)
  return [...reading, writeFileTool(workspace, write), editFileTool(workspace, write)]
}

/** An empty one would be the folder the program was started in. */
function checkRoot(root: string): string {
  if (root.trim() !== '') return root
  throw new MillraceError('INVALID_AGENT', "The option 'root' must be the path of a folder.")
}
