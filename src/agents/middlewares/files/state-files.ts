import { isRecord } from '../../../core/json.js'
import { toPromise } from '../../../core/to-promise.js'
import { checkNumber } from '../../check-number.js'
import { checkStateKey, readStateKey, withStateKey } from '../state-key.js'
import { toolError } from '../tool-error.js'
import type { FileEntry, Files, FilesContext } from './files.js'

export interface StateFilesOptions {
  /** The key in the shared state. Default `files`. */
  readonly key?: string
  /** The limit for all files together. Default 1,000,000: every change copies the whole state. */
  readonly maxChars?: number
}

/**
 * Files in the shared state, where the client can show them: under `key` is an object with a text for each path. They
 * last as long as the state of the thread.
 *
 * @example
 * const files = fileWorkspace({ backend: stateFiles() })
 */
export function stateFiles({ key = 'files', maxChars = 1_000_000 }: StateFilesOptions = {}): Files &
  Required<Pick<Files, 'write'>> {
  checkNumber('maxChars', maxChars, { min: 1, isInteger: true })
  checkStateKey('key', key)
  const readTexts = (state: unknown): Texts => toTexts(readStateKey(state, key), key)
  return {
    list: (folder, { state }) => toPromise(() => listEntries(readTexts(state), folder)),
    read: (path, { state }, { maxBytes }) => toPromise(() => encodeFile(readTexts(state), path, maxBytes)),
    write: (path, text, ctx: FilesContext) =>
      toPromise(() =>
        ctx.setState((state: unknown) =>
          withStateKey(state, key, writeText(readTexts(state), { path, text, maxChars })),
        ),
      ),
  }
}

type Texts = ReadonlyMap<string, string>

/** Ignores members that are not texts: a client may have put them there. */
function toTexts(value: unknown, key: string): Texts {
  if (value === undefined || value === null) return new Map()
  if (!isRecord(value)) throw toolError(`The shared state has no files under '${key}', but something else.`)
  return new Map(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function listEntries(texts: Texts, folder: string): FileEntry[] {
  const start = folder === '' ? '' : `${folder}/`
  const entries = new Map<string, FileEntry>()
  for (const path of texts.keys()) {
    if (!path.startsWith(start)) continue
    const [name = '', ...below] = path.slice(start.length).split('/')
    if (name !== '') entries.set(name, { name, kind: below.length > 0 ? 'folder' : 'file' })
  }
  if (entries.size === 0 && folder !== '') throw toolError(`There is no folder '${folder}'.`)
  return [...entries.values()]
}

function encodeFile(texts: Texts, path: string, maxBytes: number): Uint8Array {
  const text = texts.get(path)
  if (text === undefined)
    throw toolError(
      hasFilesBelow(texts, path) ? `'${path}' is a folder, not a file.` : `There is no file '${path}'.`,
    )
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > maxBytes)
    throw toolError(`'${path}' has ${bytes.length} bytes, which is more than ${maxBytes}: it is too large.`)
  return bytes
}

function writeText(
  texts: Texts,
  { path, text, maxChars }: { readonly path: string; readonly text: string; readonly maxChars: number },
): Record<string, string> {
  if (path === '__proto__') throw toolError(`A file cannot be called '${path}'.`)
  if (hasFilesBelow(texts, path)) throw toolError(`'${path}' is a folder, not a file.`)
  const parent = [...texts.keys()].find((other) => path.startsWith(`${other}/`))
  if (parent !== undefined) throw toolError(`'${path}' is behind a name that is not a folder.`)
  const all = new Map(texts).set(path, text)
  const chars = [...all].reduce((sum, [name, content]) => sum + name.length + content.length, 0)
  if (chars > maxChars)
    throw toolError(`There is no room for '${path}': all files together may have ${maxChars} characters.`)
  return Object.fromEntries(all)
}

function hasFilesBelow(texts: Texts, path: string): boolean {
  return [...texts.keys()].some((other) => other.startsWith(`${path}/`))
}
