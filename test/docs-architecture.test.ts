import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const page = readFileSync(join(root, 'docs', 'architecture.md'), 'utf8')

/** The folders that a cell of the table names: `a/{b,c}` and `a`, `b` are several. */
function foldersIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, name = '']) => {
    const [, before = '', list, after = ''] = /^([^{]*)\{([^}]*)\}(.*)$/.exec(name) ?? []
    return list === undefined ? [name] : list.split(',').map((each) => `${before}${each}${after}`)
  })
}

const named = page
  .split('\n')
  .filter((line) => /^\| `[a-z-]+\//.test(line))
  .flatMap((line) => foldersIn(line.split('|')[1] ?? ''))

test.each(named)('docs/architecture.md names a folder that is there: %s', (folder) => {
  expect(existsSync(join(root, 'src', folder))).toBe(true)
})

test('docs/architecture.md names every folder of the rooms it tells about', () => {
  const rooms = ['protocol', 'agents', 'models', 'adk', 'langgraph', 'server', 'testing', 'threads', 'client']
  const folders = rooms.flatMap((room) =>
    readdirSync(join(root, 'src', room))
      .map((name) => `${room}/${name}`)
      .filter((name) => statSync(join(root, 'src', name)).isDirectory()),
  )
  expect(named.length).toBeGreaterThan(20)
  expect(folders.filter((folder) => !named.includes(folder))).toEqual([])
})
