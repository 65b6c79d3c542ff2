import { constants } from 'node:fs'
import { mkdir, mkdtemp, realpath, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { locate, openConfined } from './confine.js'

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
    expect(await locate(root, path)).toEqual({ real: join(root, real), missing })
  })
})

describe('what is swapped between the check and the opening is not opened', () => {
  const options = { path: 'sub/a', flags: constants.O_RDONLY }

  async function swapped(swap: () => Promise<void>): Promise<unknown> {
    const { real } = await locate(root, 'sub/a')
    await swap()
    return openConfined(root, real, options)
  }

  test('when nothing is swapped it is', async () => {
    const { real } = await locate(root, 'sub/a')
    const handle = await openConfined(root, real, options)
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
