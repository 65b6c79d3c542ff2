import { isRecord } from '../../../core/is-record.js'
import { MillraceError } from '../../../core/errors.js'
import { checkNumber } from '../../check-number.js'
import { readStateKey, withStateKey } from '../state-key.js'
import { toolError } from '../tool-error.js'
import type { FileEntry, Files, FilesContext } from './files.js'

export interface StateFilesOptions {
  /** Where in the shared state: `files` unless told. */
  readonly key?: string
  /** How many characters all of them may have: 1,000,000 unless told. The whole state is copied with every change. */
  readonly maxChars?: number
}

/**
 * Files in the state shared with the client, which can show them: under `key` is an object with a text for each path.
 * They last as long as the state of the thread does.
 *
 * @example
 * const files = fileWorkspace({ backend: stateFiles() })
 */
export function stateFiles({ key = 'files', maxChars = 1_000_000 }: StateFilesOptions = {}): Files &
  Required<Pick<Files, 'write'>> {
  checkNumber('maxChars', maxChars, { min: 1, isInteger: true })
  if (key === '' || key === '__proto__')
    throw new MillraceError('INVALID_AGENT', `The option 'key' must be the name of a member, not '${key}'.`)
  const filesIn = (state: unknown): Texts => toTexts(readStateKey(state, key), key)
  return {
    list: (folder, { state }) => settle(() => entriesOf(filesIn(state), folder)),
    read: (path, { state }, { maxBytes }) => settle(() => readText(filesIn(state), path, maxBytes)),
    write: (path, text, ctx: FilesContext) =>
      settle(() =>
        ctx.setState((state: unknown) =>
          withStateKey(state, key, withText(filesIn(state), { path, text, maxChars })),
        ),
      ),
  }
}

type Texts = ReadonlyMap<string, string>

/** What else a client has put there is nobody's file. */
function toTexts(value: unknown, key: string): Texts {
  if (value === undefined || value === null) return new Map()
  if (!isRecord(value)) throw toolError(`The shared state has no files under '${key}', but something else.`)
  return new Map(
    Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  )
}

function entriesOf(texts: Texts, folder: string): FileEntry[] {
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

function readText(texts: Texts, path: string, maxBytes: number): Uint8Array {
  const text = texts.get(path)
  if (text === undefined)
    throw toolError(
      isFolder(texts, path) ? `'${path}' is a folder, not a file.` : `There is no file '${path}'.`,
    )
  const bytes = new TextEncoder().encode(text)
  if (bytes.length > maxBytes)
    throw toolError(`'${path}' has ${bytes.length} bytes, which is more than ${maxBytes}: it is too large.`)
  return bytes
}

function withText(
  texts: Texts,
  { path, text, maxChars }: { readonly path: string; readonly text: string; readonly maxChars: number },
): Record<string, string> {
  if (path === '__proto__') throw toolError(`A file cannot be called '${path}'.`)
  if (isFolder(texts, path)) throw toolError(`'${path}' is a folder, not a file.`)
  const above = [...texts.keys()].find((other) => path.startsWith(`${other}/`))
  if (above !== undefined) throw toolError(`'${path}' is behind a name that is not a folder.`)
  const all = new Map(texts).set(path, text)
  const chars = [...all].reduce((sum, [name, one]) => sum + name.length + one.length, 0)
  if (chars > maxChars)
    throw toolError(`There is no room for '${path}': all files together may have ${maxChars} characters.`)
  return Object.fromEntries(all)
}

function isFolder(texts: Texts, path: string): boolean {
  return [...texts.keys()].some((other) => other.startsWith(`${path}/`))
}

/** What it throws is a rejection, as everywhere else. */
function settle<T>(work: () => T): Promise<T> {
  return new Promise((done) => done(work()))
}
