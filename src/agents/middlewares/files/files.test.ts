import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toolContext } from '../../../../test/support/tool-context.js'
import { SharedState } from '../../run/context.js'
import { diskFiles } from './disk-files.js'
import { toFilePath, toNamedPath, type FilesContext } from './files.js'
import { stateFiles } from './state-files.js'

let folder: string
let ctx: FilesContext

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-files-'))
  const state = new SharedState({ other: 1 })
  ctx = Object.defineProperty(toolContext({ setState: (next) => void state.set(next) }), 'state', {
    get: () => state.current,
  })
})

afterEach(() => rm(folder, { recursive: true }))

const limit = { maxBytes: 100 }
const isRefused = (message: RegExp) =>
  expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(message) as string }) as Error

describe.each([
  ['on disk', () => diskFiles(folder)],
  ['in the state', () => stateFiles()],
])('files %s', (_, create) => {
  async function textOf(path: string): Promise<string> {
    return new TextDecoder().decode(await create().read(path, ctx, limit))
  }

  test('are read as they were written', async () => {
    await create().write('notes/été 😀.md', 'Ünï\r\ncode', ctx)
    expect(await textOf('notes/été 😀.md')).toBe('Ünï\r\ncode')
  })

  test('are replaced as a whole', async () => {
    await create().write('a.md', 'a long text', ctx)
    await create().write('a.md', 'short', ctx)
    expect(await textOf('a.md')).toBe('short')
  })

  test('are listed with the folders they are in', async () => {
    expect(await create().list('', ctx)).toEqual([])
    for (const path of ['b.md', 'sub/deep/c.md', 'sub/d.md', 'subway.md']) await create().write(path, '', ctx)
    const sorted = async (path: string) =>
      (await create().list(path, ctx)).map(({ name, kind }) => `${kind} ${name}`).sort()
    expect(await sorted('')).toEqual(['file b.md', 'file subway.md', 'folder sub'])
    expect(await sorted('sub')).toEqual(['file d.md', 'folder deep'])
  })

  test.each(['constructor', 'toString/hasOwnProperty', 'con~1', '~', 'a b'])(
    'may have any name: %s',
    async (path) => {
      await expect(create().read(path, ctx, limit)).rejects.toThrow(isRefused(/^There is no file/))
      await create().write(path, 'text', ctx)
      expect(await textOf(path)).toBe('text')
    },
  )

  test('that are not there cannot be read', async () => {
    await expect(create().read('a.md', ctx, limit)).rejects.toThrow(isRefused(/^There is no file 'a.md'/))
    await expect(create().list('sub', ctx)).rejects.toThrow(isRefused(/^There is no folder 'sub'/))
  })

  test('that are too large are not read', async () => {
    await create().write('a.md', 'é'.repeat(50), ctx)
    expect(await textOf('a.md')).toHaveLength(50)
    await create().write('a.md', 'é'.repeat(51), ctx)
    await expect(create().read('a.md', ctx, limit)).rejects.toThrow(isRefused(/102 bytes, .* more than 100/))
  })

  test('are not folders, and folders are not files', async () => {
    await create().write('sub/a.md', 'text', ctx)
    await expect(create().read('sub', ctx, limit)).rejects.toThrow(isRefused(/'sub' is a folder/))
    await expect(create().write('sub', 'text', ctx)).rejects.toThrow(isRefused(/'sub' is a folder/))
    await expect(create().write('sub/a.md/b.md', 'text', ctx)).rejects.toThrow(isRefused(/not a folder/))
    await expect(create().list('sub/a.md', ctx)).rejects.toThrow(isRefused(/folder/))
    expect(await textOf('sub/a.md')).toBe('text')
  })
})

describe('a path that a model wrote', () => {
  test.each([
    ['a.md', 'a.md'],
    ['./a/b.md', 'a/b.md'],
    ['a//b/./c/', 'a/b/c'],
    ['', ''],
    ['.', ''],
    ['./', ''],
    ['...', '...'],
    ['a..b', 'a..b'],
    ['été/😀', 'été/😀'],
  ])('the path %o is %o', (path, expected) => {
    expect(toFilePath(path)).toBe(expected)
  })

  test.each([
    ['/etc/passwd', /absolute/],
    ['/', /absolute/],
    ['C:/windows', /absolute/],
    ['c:\\windows', /absolute/],
    ['..', /'\.\.'/],
    ['a/../../b', /'\.\.'/],
    ['a/..', /'\.\.'/],
    ['a\\b', /backslash/],
    ['a\0b', /control character/],
    ['a\nb', /control character/],
    ['a/'.repeat(501), /too long/],
  ])('the path %o is refused', (path, reason) => {
    expect(() => toFilePath(path)).toThrow(
      expect.objectContaining({ code: 'TOOL_ERROR', message: expect.stringMatching(reason) as string }),
    )
  })

  test('the top folder is no file', () => {
    expect(toNamedPath('a')).toBe('a')
    expect(() => toNamedPath('./')).toThrow(/empty/)
  })
})
