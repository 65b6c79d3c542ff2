import { EventType } from '@ag-ui/core'
import { readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it, test } from 'vitest'
import ts from 'typescript'
import { errorCodes } from '../src/core/error-codes.js'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'guides', 'migrating')
const pages = readdirSync(folder).filter((name) => name !== 'README.md')

const entries = Object.values(
  (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { exports: Record<string, string> })
    .exports,
).filter((path) => path.endsWith('.js'))

/** The names that users can write: exports of the package, and members and literals of exported types. */
function publicNames(): ReadonlySet<string> {
  const exported = new Set(
    entries.flatMap((path) => exportedNames(parse(path.replace('./dist', 'src').replace(/js$/, 'ts')))),
  )
  const names = new Set([...exported, ...Object.keys(EventType), ...Object.keys(errorCodes)])
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  for (const path of sources.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts')))
    parse(join('src', path)).forEachChild((node) => {
      const isType =
        ts.isInterfaceDeclaration(node) || ts.isTypeAliasDeclaration(node) || ts.isClassDeclaration(node)
      // Groups of members, such as those of `RunContext`, are not exported by name.
      if (isType && node.name && (exported.has(node.name.text) || path.endsWith('contract.ts')))
        addMembers(node, names)
    })
  return names
}

function parse(path: string): ts.SourceFile {
  return ts.createSourceFile(path, readFileSync(join(root, path), 'utf8'), ts.ScriptTarget.Latest)
}

function exportedNames(source: ts.SourceFile): string[] {
  const names: string[] = []
  source.forEachChild((node) => {
    if (ts.isExportDeclaration(node) && node.exportClause && ts.isNamedExports(node.exportClause))
      names.push(...node.exportClause.elements.map(({ name }) => name.text))
    const isExported =
      ts.canHaveModifiers(node) &&
      ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
    if (isExported === true && 'name' in node && ts.isIdentifier(node.name)) names.push(node.name.text)
  })
  return names
}

function addMembers(node: ts.Node, names: Set<string>): void {
  node.forEachChild((child) => {
    if ((ts.isTypeElement(child) || ts.isClassElement(child)) && child.name && ts.isIdentifier(child.name))
      names.add(child.name.text)
    if (ts.isStringLiteral(child)) names.add(child.text)
    addMembers(child, names)
  })
}

const routes = readFileSync(join(root, 'docs', 'guides', 'server.md'), 'utf8')

/** What a code span of the right column names: routes as they are, else identifiers. */
function namesIn(span: string): string[] {
  if (/^(GET|POST|PATCH|DELETE) /.test(span)) return [span]
  const code = span.replace(/'[^']*'/g, '').replace(/: (true|false|undefined|\d+)/g, '')
  return code.match(/[A-Za-z_$][\w$]*/g) ?? []
}

// Names that stand for an object in examples, packages of Node and AG-UI, and keys of the state.
const understood = new Set([
  'ctx',
  'server',
  'info',
  'node',
  'http',
  'Interrupt',
  'Content',
  'app',
  'user',
  'id',
  'approved',
])

function unknownNames(page: string, names: ReadonlySet<string>): string[] {
  const rows = page
    .split('\n')
    .filter((line) => line.startsWith('| ') && !line.startsWith('| there') && !line.startsWith('| ---'))
  const right = rows.map((row) => row.split(' | ')[1] ?? '')
  const spans = right.flatMap((cell) => Array.from(cell.matchAll(/`([^`]+)`/g), ([, span = '']) => span))
  return spans.flatMap(namesIn).filter((name) => {
    if (name.includes(' /'))
      return !routes.includes(name.replace(' /', ' .../')) && !routes.includes(`\`${name}\``)
    return !names.has(name) && !understood.has(name)
  })
}

describe('the pages for people who come from elsewhere', () => {
  const names = publicNames()

  test.each(pages)('%s names what exists', (name) => {
    const page = readFileSync(join(folder, name), 'utf8')
    expect(page.split('\n').filter((line) => line.startsWith('| ')).length).toBeGreaterThan(10)
    expect(unknownNames(page, names)).toEqual([])
  })

  it('are checked by something that finds a name that does not exist', () => {
    const page =
      '| there | here |\n| `a` | `fromAdk`, `limits.runTimeoutMs`, `GET /thread/list` | x |\n| `b` | `fromEino`, `GET /threads`, `ctx.leave` | |'
    expect(unknownNames(page, names)).toEqual(['fromEino', 'GET /threads', 'leave'])
  })

  it('are all listed', () => {
    const index = readFileSync(join(folder, 'README.md'), 'utf8')
    for (const page of pages) expect(index).toContain(`](${page})`)
  })
})
