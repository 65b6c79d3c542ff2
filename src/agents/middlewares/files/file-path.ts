import { toolError } from '../tool-error.js'

const longestPath = 1_000

/**
 * A path that a model wrote, as `Files` take it: without `.`, empty names and slashes at the end. Throws TOOL_ERROR for
 * one that is absolute, leads upwards, or has a backslash or a control character in it.
 */
export function toFilePath(path: string): string {
  const shown = JSON.stringify(path.slice(0, 200))
  if (path.length > longestPath) throw toolError(`The path ${shown}... is too long.`)
  if (path.startsWith('/') || /^[A-Za-z]:[\\/]/.test(path))
    throw toolError(
      `The path ${shown} is absolute. Paths are relative to the top folder, as in "notes/a.md".`,
    )
  if (path.includes('\\')) throw toolError(`The path ${shown} has a backslash. Write / between names.`)
  if (/\p{Cc}/u.test(path)) throw toolError(`The path ${shown} has a control character in it.`)
  const names = path.split('/').filter((name) => name !== '' && name !== '.')
  if (names.includes('..')) throw toolError(`The path ${shown} has '..' in it, which is not allowed.`)
  return names.join('/')
}

/** Like `toFilePath`, for a path that must not be the top folder. */
export function toNamedPath(path: string): string {
  const named = toFilePath(path)
  if (named === '') throw toolError('The path is empty. Give the path of a file.')
  return named
}

export function joinPath(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`
}

export function baseName(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}
