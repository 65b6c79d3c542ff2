import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { describe, expect, it, test } from 'vitest'

const root = join(import.meta.dirname, '..')
const folder = join(root, 'docs', 'guides')
const page = readFileSync(join(folder, 'front-ends.md'), 'utf8')
const { exports: entries } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  readonly exports: Readonly<Record<string, string>>
}
const frontends = JSON.parse(readFileSync(join(root, 'frontends/package.json'), 'utf8')) as {
  readonly dependencies: Readonly<Record<string, string>>
}

const snippets = [...page.matchAll(/^```jsx?\n(.*?)^```/gms)].map(([, code = '']) => code)

function importsOf(code: string): { readonly from: string; readonly names: readonly string[] }[] {
  const source = ts.createSourceFile('snippet.jsx', code, ts.ScriptTarget.Latest, false, ts.ScriptKind.JSX)
  return source.statements.filter(ts.isImportDeclaration).map(({ moduleSpecifier, importClause }) => {
    const bindings = importClause?.namedBindings
    const names =
      bindings && ts.isNamedImports(bindings) ? bindings.elements.map(({ name }) => name.text) : []
    return { from: ts.isStringLiteral(moduleSpecifier) ? moduleSpecifier.text : '', names }
  })
}

/** What an import of a snippet asks for and does not get. */
function missingIn({ from, names }: { readonly from: string; readonly names: readonly string[] }): string[] {
  if (from.startsWith('.')) return []
  if (!from.startsWith('millrace')) {
    const [scope = '', name = ''] = from.split('/')
    const known = scope.startsWith('@') ? `${scope}/${name}` : scope
    return known in frontends.dependencies ? [] : [from]
  }
  const entry = entries[from.replace('millrace', '.')]
  if (entry === undefined) return [from]
  const source = readFileSync(join(root, entry.replace('./dist', 'src').replace(/js$/, 'ts')), 'utf8')
  return names.filter((name) => !new RegExp(`\\b${name}\\b`).test(source))
}

describe('docs/guides/front-ends.md', () => {
  it('has a snippet for each of six', () => {
    expect(snippets).toHaveLength(6)
  })

  test.each(snippets.map((code) => [code.split('\n').slice(0, 2).join(' '), code]))('%s', (_, code) => {
    const { diagnostics } = ts.transpileModule(code, {
      reportDiagnostics: true,
      fileName: 'snippet.jsx',
      compilerOptions: { jsx: ts.JsxEmit.ReactJSX, allowJs: true },
    })
    expect(diagnostics?.map(({ messageText }) => messageText)).toEqual([])
    expect(importsOf(code).flatMap(missingIn)).toEqual([])
  })

  it('is checked by something that finds what is not there', () => {
    const wrong = "import { useThreads } from 'millrace/react'\nimport x from 'nowhere'"
    expect(importsOf(wrong).flatMap(missingIn)).toEqual(['useThreads', 'nowhere'])
  })

  it('quotes the route file of the example', () => {
    const route = readFileSync(join(root, 'examples/nextjs/app/api/agents/[[...path]]/route.js'), 'utf8')
    const quoted = snippets.find((code) => code.includes('createAgentServer')) ?? ''
    const lines = new Set(route.split('\n'))
    expect(quoted.split('\n').filter((line) => !lines.has(line))).toEqual([])
  })

  it('links to files that are there', () => {
    const links = [...page.matchAll(/\]\(([^)#]+)[^)]*\)/g)].map(([, link = '']) => link)
    expect(links.length).toBeGreaterThan(5)
    expect(links.filter((link) => !existsSync(join(dirname(join(folder, 'x')), link)))).toEqual([])
  })
})
