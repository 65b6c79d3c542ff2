import { readdirSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs/guarantees.md'), 'utf8')

/** The last cell of a row: the file of a test, and how its name begins. */
function shownBy(line: string): readonly [file: string, name: string] | undefined {
  const cell = line.split('|').at(-2)?.trim() ?? ''
  const [, file, name] = /^`([\w-]+)`: (.+)$/.exec(cell) ?? []
  return file === undefined || name === undefined ? undefined : [file, name]
}

const rows = page.split('\n').filter((line) => line.startsWith('| ') && !line.startsWith('| -'))
const claims = rows.filter((line) => !line.includes('shown by'))

const sources = ['test', 'src'].flatMap((folder) =>
  readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => join(root, folder, path)),
)

/** The files of tests of this name: `lost-runs` is lost-runs.test.ts. A part of the store contract is `fencing.ts`. */
function testsIn(file: string): readonly string[] {
  const names = [`${file}.test.ts`, `${file}.ts`]
  return sources.filter((path) => names.includes(basename(path))).map((path) => readFileSync(path, 'utf8'))
}

describe('docs/guarantees.md', () => {
  it('names a test for each line', () => {
    expect(claims.length).toBeGreaterThan(10)
    expect(claims.filter((line) => shownBy(line) === undefined)).toEqual([])
  })

  it('names tests that there are', () => {
    const missing = claims.filter((line) => {
      const [file = '', name = ''] = shownBy(line) ?? []
      return !testsIn(file).some((text) => text.includes(`'${name}`))
    })
    expect(missing).toEqual([])
  })
})
