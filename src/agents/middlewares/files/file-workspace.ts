import type { Middleware } from '../../chat/middleware.js'
import { checkGiven, invalidAgent } from '../../check-agent.js'
import { checkNumber } from '../../check-number.js'
import type { Tool } from '../../contract.js'
import { addInstructions } from '../instructions.js'
import { diskFiles } from './disk-files.js'
import { editFileTool, lsTool, readFileTool, writeFileTool } from './file-tools.js'
import type { Files } from './files.js'
import { globTool, grepTool } from './search-tools.js'
import { createRunInOrder, type Workspace } from './workspace.js'

interface FileWorkspaceSettings {
  /** Leaves out the tools that write. */
  readonly readOnly?: boolean
  /** Precedes the name of every tool, to tell workspaces apart, for example `memory_`. */
  readonly prefix?: string
  /** Tells the model about the workspace: what is in it, what to keep there. */
  readonly instructions?: string
  /** Names of folders that `glob` and `grep` leave out. Default `.git` and `node_modules`. */
  readonly ignore?: readonly string[]
  /** The largest file that is read or written. Default 1,000,000 bytes. */
  readonly maxFileBytes?: number
  /** The most results that `ls`, `glob` and `grep` return at once. Default 200. */
  readonly maxResults?: number
}

/** A folder on disk, or any other backend. */
export type FileWorkspaceOptions = FileWorkspaceSettings &
  (
    | { readonly root: string; readonly backend?: undefined }
    | { readonly backend: Files; readonly root?: undefined }
  )

// Below the default limit of `offloadResults`.
const maxChars = 40_000

/**
 * Gives an agent files to work with: the tools `ls`, `read_file`, `write_file`, `edit_file`, `glob` and `grep`. Paths are
 * relative, with `/`; absolute ones and those with `..` are refused. Changes to one file are made one after the other,
 * even if the model calls for several at once. Throws INVALID_AGENT for options that make no sense.
 *
 * @example
 * const agent = defineAgent({ name: 'writer', model, middlewares: [fileWorkspace({ root: './drafts' })] })
 */
export function fileWorkspace(options: FileWorkspaceOptions): Middleware {
  checkGiven('fileWorkspace', options, '{ root }')
  const { root, backend, prefix = '', readOnly = false, instructions = '' } = options
  const { ignore = ['.git', 'node_modules'], maxFileBytes = 1_000_000, maxResults = 200 } = options
  checkNumber('maxFileBytes', maxFileBytes, { min: 1, isInteger: true })
  checkNumber('maxResults', maxResults, { min: 1, isInteger: true })
  const files = backend ?? diskFiles(checkRoot(root))
  const limits = { maxFileBytes, maxResults, maxChars }
  const workspace = { files, prefix, ignore, ...limits, runInOrder: createRunInOrder() }
  const tools = workspaceTools(workspace, readOnly)
  return {
    tools,
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
  const readTools = [lsTool(workspace), readFileTool(workspace), globTool(workspace), grepTool(workspace)]
  if (readOnly || files.write === undefined) return readTools
  const write = files.write.bind(files)
  return [...readTools, writeFileTool(workspace, write), editFileTool(workspace, write)]
}

/** An empty path would be the working directory of the process. */
function checkRoot(root: unknown): string {
  if (typeof root === 'string' && root.trim() !== '') return root
  throw invalidAgent("The option 'root' must be the path of a folder, unless there is a `backend`.")
}
