import fc from 'fast-check'
import { execFileSync } from 'node:child_process'
import { constants } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toolContext } from '../../../../test/support/tool-context.js'
import { diskFiles, openInside, resolveInside } from './disk-files.js'
import { toFilePath } from './files.js'
import { propertyRuns } from '../../../../test/support/property-runs.js'

const secret = 'the secret'
const limit = { maxBytes: 1_000 }
const ctx = toolContext()
let base: string
let root: string

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), 'millrace-disk-'))
  root = join(base, 'root')
  await mkdir(join(root, 'sub'), { recursive: true })
  await mkdir(join(base, 'outside'))
  await writeFile(join(base, 'outside', 'a'), secret)
  await writeFile(join(base, 'root-beside'), secret)
  await writeFile(join(root, 'a'), 'inside')
})

afterEach(() => rm(base, { recursive: true }))

const refused = expect.objectContaining({ code: 'TOOL_ERROR' }) as Error

describe('a link', () => {
  test('that leads to a file of the folder is followed', async () => {
    await symlink('../a', join(root, 'sub', 'link'))
    expect(Buffer.from(await diskFiles(root).read('sub/link', ctx, limit)).toString()).toBe('inside')
    expect(await diskFiles(root).list('sub', ctx)).toEqual([{ name: 'link', kind: 'link' }])
    await diskFiles(root).write('sub/link', 'changed', ctx)
    expect(await readFile(join(root, 'a'), 'utf8')).toBe('changed')
  })

  test.each([
    ['a file outside', '../outside/a', 'link'],
    ['a folder outside', '../outside', 'link/a'],
    ['a folder outside, for a new file', '../outside', 'link/new'],
    ['what begins with the same name', '../root-beside', 'link'],
    ['a file outside that is not there yet', '../outside/new', 'link'],
    ['a folder outside that is not there yet', '../outside/new', 'link/new'],
    ['itself', 'link', 'link'],
  ])('that leads to %s is refused', async (_, target, path) => {
    await symlink(target, join(root, 'link'))
    const files = diskFiles(root)
    await expect(files.read(path, ctx, limit)).rejects.toThrow(refused)
    await expect(files.write(path, 'mine', ctx)).rejects.toThrow(refused)
    await expect(files.list(path, ctx)).rejects.toThrow(refused)
    expect(await readdir(join(base, 'outside'))).toEqual(['a'])
    expect(await readFile(join(base, 'outside', 'a'), 'utf8')).toBe(secret)
  })

  test('to the folder itself is no way around', async () => {
    await symlink(root, join(base, 'alias'))
    await symlink('../outside', join(root, 'link'))
    const files = diskFiles(join(base, 'alias'))
    expect(Buffer.from(await files.read('a', ctx, limit)).toString()).toBe('inside')
    await expect(files.read('link/a', ctx, limit)).rejects.toThrow(refused)
  })
})

test('what is neither a file nor a folder is not touched, and nothing waits for it', async () => {
  execFileSync('mkfifo', [join(root, 'pipe')])
  const files = diskFiles(root)
  await expect(files.read('pipe', ctx, limit)).rejects.toThrow(refused)
  await expect(files.write('pipe', 'text', ctx)).rejects.toThrow(refused)
  expect((await files.list('', ctx)).map(({ name }) => name).sort()).toEqual(['a', 'sub'])
})

test('names that no path can have are not listed', async () => {
  await writeFile(join(root, 'sub', 'a\nb'), '')
  await writeFile(join(root, 'sub', 'a\\b'), '')
  await writeFile(join(root, 'sub', 'ab'), '')
  expect(await diskFiles(root).list('sub', ctx)).toEqual([{ name: 'ab', kind: 'file' }])
})

test('errors do not tell where the folder is', async () => {
  const files = diskFiles(root)
  const failures = [
    files.read('none', ctx, limit),
    files.read('a/b', ctx, limit),
    files.list('a', ctx),
    files.write('x'.repeat(300), 'text', ctx),
    files.write('a/b/c', 'text', ctx),
  ]
  for (const { status, ...rest } of await Promise.allSettled(failures)) {
    expect(status).toBe('rejected')
    const { code, message } = 'reason' in rest ? (rest.reason as { code: string; message: string }) : {}
    expect([code, message]).toEqual(['TOOL_ERROR', expect.not.stringContaining(base)])
  }
})

test('a folder that is not there is told at the start', async () => {
  await expect(diskFiles(join(base, 'none')).ready()).rejects.toMatchObject({ code: 'INVALID_AGENT' })
  await expect(diskFiles(join(root, 'a')).ready()).rejects.toMatchObject({ code: 'INVALID_AGENT' })
  await expect(diskFiles(root).ready()).resolves.toBeUndefined()
})

test('a run that was cancelled reads no more', async () => {
  const reason = new Error('cancelled')
  const signal = AbortSignal.abort(reason)
  await expect(diskFiles(root).read('a', toolContext({ signal }), limit)).rejects.toBe(reason)
})

describe('whatever the paths and links', () => {
  const name = fc.constantFrom('a', 'b', 'sub', '..', '.', '', 'root', 'outside', '\\', '~', '%2e%2e')
  const path = fc
    .tuple(fc.constantFrom('', '', '', '/', 'C:/', './'), fc.array(name, { minLength: 1, maxLength: 5 }))
    .map(([start, names]) => start + names.join('/'))
  const target = fc.constantFrom(
    'a',
    '.',
    '..',
    '../outside',
    '../outside/a',
    '../../outside/b',
    '../root-beside',
    'sub',
    '/',
  )
  const link = fc.record({ at: fc.constantFrom('b', 'sub/b', 'sub/outside', 'outside', '~'), target })
  const action = fc.record({ path, kind: fc.constantFrom('read', 'write', 'list') })

  test('nothing outside is seen or changed', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(link, { maxLength: 4 }),
        fc.array(action, { minLength: 1, maxLength: 8 }),
        async (links, actions) => {
          await rm(root, { recursive: true })
          await mkdir(join(root, 'sub'), { recursive: true })
          for (const { at, target: to } of links) await symlink(to, join(root, at)).catch(() => undefined)
          for (const { path: asked, kind } of actions) {
            const seen = await attempt(asked, kind)
            expect(seen).not.toContain(secret)
            expect(seen).not.toContain('root-beside')
          }
          expect((await readdir(base)).sort()).toEqual(['outside', 'root', 'root-beside'])
          expect(await readdir(join(base, 'outside'))).toEqual(['a'])
          expect(await readFile(join(base, 'outside', 'a'), 'utf8')).toBe(secret)
          expect(await readFile(join(base, 'root-beside'), 'utf8')).toBe(secret)
        },
      ),
      { numRuns: propertyRuns(300) },
    )
  })

  /** What a model gets to see. Refusals are fine, other failures are not. */
  async function attempt(asked: string, kind: string): Promise<string> {
    const files = diskFiles(root)
    try {
      const checked = toFilePath(asked)
      if (kind === 'list') return JSON.stringify(await files.list(checked, ctx))
      if (kind === 'read') return Buffer.from(await files.read(checked, ctx, limit)).toString()
      await files.write(checked, 'mine', ctx)
      return ''
    } catch (error) {
      expect(error).toEqual(refused)
      return ''
    }
  }
})

describe('a path below a root', () => {
  let base: string
  let root: string

  beforeEach(async () => {
    base = await realpath(await mkdtemp(join(tmpdir(), 'millrace-confine-')))
    root = join(base, 'root')
    await mkdir(join(root, 'sub'), { recursive: true })
    await mkdir(join(base, 'outside'))
    await writeFile(join(root, 'sub', 'a'), 'inside')
    await writeFile(join(base, 'outside', 'a'), 'the secret')
  })

  afterEach(() => rm(base, { recursive: true }))

  describe('a path', () => {
    test.each([
      ['', '', []],
      ['sub/a', 'sub/a', []],
      ['sub/b', 'sub', ['b']],
      ['x/y/z', '', ['x', 'y', 'z']],
      ['sub/a/b', 'sub/a', ['b']],
    ])('%o is found as far as it goes', async (path, real, missing) => {
      expect(await resolveInside(root, path)).toEqual({ real: join(root, real), missing })
    })
  })

  describe('what is swapped between the check and the opening is not opened', () => {
    const options = { path: 'sub/a', flags: constants.O_RDONLY }

    async function swapped(swap: () => Promise<void>): Promise<unknown> {
      const { real } = await resolveInside(root, 'sub/a')
      await swap()
      return openInside(root, real, options)
    }

    test('when nothing is swapped it is', async () => {
      const { real } = await resolveInside(root, 'sub/a')
      const handle = await openInside(root, real, options)
      expect(await handle.readFile('utf8')).toBe('inside')
      await handle.close()
    })

    test('the file, for a link', async () => {
      const opened = swapped(async () => {
        await rm(join(root, 'sub', 'a'))
        await symlink(join(base, 'outside', 'a'), join(root, 'sub', 'a'))
      })
      await expect(opened).rejects.toMatchObject({ code: 'ELOOP' })
    })

    test('a folder on the way, for a link', async () => {
      const opened = swapped(async () => {
        await rename(join(root, 'sub'), join(root, 'was'))
        await symlink(join(base, 'outside'), join(root, 'sub'))
      })
      await expect(opened).rejects.toMatchObject({ code: 'TOOL_ERROR' })
    })
  })
})
