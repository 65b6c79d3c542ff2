import { describe, expect, test } from 'vitest'
import { findViolations, readSources } from './architecture.js'

/** The files of a made-up project: those given, and enough others for imports to arrive somewhere. */
function check(path: string, source: string): string[] {
  const others = [
    'src/protocol/index.ts',
    'src/protocol/wire/sse.ts',
    'src/agents/index.ts',
    'src/core/errors.ts',
  ]
  return findViolations([{ path, source }, ...others.map((other) => ({ path: other, source: '' }))])
}

test('the rooms of this project keep their rules', () => {
  const files = readSources()
  expect(files.map(({ path }) => path)).toContain('src/core/errors.ts')
  expect(findViolations(files)).toEqual([])
})

describe('between rooms', () => {
  test.each([
    ['core', 'protocol'],
    ['protocol', 'testing'],
    ['protocol', 'agents'],
    ['bridge', 'agents'],
    ['bridge', 'models'],
    ['models', 'agents'],
    ['models', 'threads'],
    ['threads', 'agents'],
    ['agents', 'adk'],
    ['adk', 'langgraph'],
    ['remote', 'adk'],
    ['remote', 'server'],
    ['server', 'cli'],
    ['server', 'testing'],
    ['testing', 'agents'],
    ['core', 'unheard-of'],
  ])('%s may not import %s', (from, to) => {
    expect(check(`src/${from}/a.ts`, `import { x } from '../${to}/index.js'`)).toEqual([
      `src/${from}/a.ts imports '../${to}/index.js': '${from}' may not import '${to}'`,
    ])
  })

  test.each([
    ['protocol', 'core'],
    ['testing', 'protocol'],
    ['threads', 'protocol'],
    ['bridge', 'protocol'],
    ['agents', 'models'],
    ['adk', 'agents'],
    ['langgraph', 'models'],
    ['remote', 'threads'],
    ['server', 'remote'],
    ['cli', 'server'],
    ['cli', 'testing'],
  ])('%s may import %s', (from, to) => {
    expect(check(`src/${from}/deep/a.ts`, `import { x } from '../../${to}/index.js'`)).toEqual([])
  })

  test('a room may import all of itself', () => {
    expect(check('src/protocol/index.ts', `import { x } from './wire/sse.js'`)).toEqual([])
    expect(check('src/protocol/fold/a.ts', `import { x } from '../wire/sse.js'`)).toEqual([])
  })

  test('a room with an index shows nothing else', () => {
    expect(check('src/agents/a.ts', `import { x } from '../protocol/wire/sse.js'`)).toEqual([
      "src/agents/a.ts imports '../protocol/wire/sse.js': 'protocol' shows only its index",
    ])
  })

  test('a room without an index shows its top-level files only', () => {
    expect(check('src/agents/a.ts', `import { x } from '../core/errors.js'`)).toEqual([])
    expect(check('src/agents/a.ts', `import { x } from '../core/deep/b.js'`)).toEqual([
      "src/agents/a.ts imports '../core/deep/b.js': 'core' shows only its top-level files",
    ])
  })

  test('the root entry may import every room, by its public files, and no room imports it', () => {
    const source = `export { x } from './core/errors.js'\nexport { y } from './server/app.js'`
    expect(check('src/index.ts', source)).toEqual([])
    expect(check('src/index.ts', `export { x } from './protocol/wire/sse.js'`)).toHaveLength(1)
    expect(check('src/cli/a.ts', `import { x } from '../index.js'`)).toHaveLength(1)
  })

  test('the package is not imported by its own name', () => {
    expect(check('src/agents/a.ts', `import { x } from 'millrace/protocol'`)).toHaveLength(1)
    expect(check('src/agents/a.ts', `import { x } from 'millrace-plugin'`)).toEqual([])
  })

  test('what is shipped imports nothing from outside src', () => {
    expect(check('src/core/a.ts', `import { x } from '../../test/support/x.js'`)).toHaveLength(1)
    expect(check('src/core/a.test.ts', `import { x } from '../../test/support/x.js'`)).toEqual([])
  })

  test('every file is in a room of the table', () => {
    expect(check('src/util.ts', '')).toEqual(['src/util.ts is in no room'])
    expect(check('src/utils/a.ts', '')).toEqual([
      "src/utils/a.ts is in 'utils', a room the table does not know",
    ])
    expect(check('src/index.test.ts', '')).toEqual([])
  })

  test('a store is shown by its entry alone', () => {
    expect(check('src/server/a.ts', `import { x } from '../threads/sqlite/store.js'`)).toEqual([])
    expect(check('src/server/a.ts', `import { x } from '../threads/sqlite/leases.js'`)).toHaveLength(1)
  })

  test('tests are bound like everyone, but may lint the streams they produce', () => {
    expect(check('src/core/a.test.ts', `import { x } from '../protocol/index.js'`)).toHaveLength(1)
    expect(check('src/protocol/a.test.ts', `import { x } from '../testing/index.js'`)).toEqual([])
    expect(check('src/protocol/a.test.ts', `import { x } from '../testing/rules/tools.js'`)).toHaveLength(1)
  })
})

describe('libraries', () => {
  test.each(['node:fs', 'fs', 'fs/promises', 'node:sqlite'])(
    'core and protocol run without %s',
    (builtin) => {
      const source = `import { x } from '${builtin}'`
      for (const room of ['core', 'protocol']) {
        expect(check(`src/${room}/a.ts`, source)).toEqual([
          `src/${room}/a.ts imports '${builtin}': '${room}' must run without Node`,
        ])
        expect(check(`src/${room}/a.test.ts`, source)).toEqual([])
      }
      expect(check('src/threads/a.ts', source)).toEqual([])
    },
  )

  test.each([
    ['@google/adk', ['adk']],
    ['@langchain/core/messages', ['langgraph']],
    ['@langchain/langgraph', ['langgraph']],
    ['pg', ['threads']],
    ['ioredis', ['threads']],
    ['@modelcontextprotocol/sdk/client', ['agents']],
    ['re2js', ['agents']],
    ['@ag-ui/client', ['testing', 'remote']],
    ['rxjs', ['testing', 'remote']],
    ['rxjs/operators', ['testing', 'remote']],
  ])('%s stays in %s', (library, homes) => {
    const everywhere = [
      'core',
      'protocol',
      'testing',
      'agents',
      'models',
      'threads',
      'adk',
      'langgraph',
      'remote',
    ]
    const source = `import { x } from '${library}'`
    const allowed = [...everywhere, 'server', 'cli'].filter(
      (room) => check(`src/${room}/a.ts`, source).length === 0,
    )
    expect(allowed.sort()).toEqual([...homes].sort())
    expect(check('src/index.ts', source)).toHaveLength(1)
    expect(check('src/server/a.test.ts', source)).toEqual([])
  })

  test('a library with a similar name is free', () => {
    expect(check('src/server/a.ts', `import { x } from 'pg-format'`)).toEqual([])
  })
})

test.each([
  `import x from '../agents/index.js'`,
  `import '../agents/index.js'`,
  `import type { X } from '../agents/index.js'`,
  `import { type X } from '../agents/index.js'`,
  `export { x } from '../agents/index.js'`,
  `export type { X } from '../agents/index.js'`,
  `export * from '../agents/index.js'`,
  `const x = await import('../agents/index.js')`,
  `type X = import('../agents/index.js').X`,
  `const x = require('../agents/index.js')`,
])('every way to import counts: %s', (source) => {
  expect(check('src/core/a.ts', source)).toHaveLength(1)
})
