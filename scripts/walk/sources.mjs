import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import ts from 'typescript'

/** Sizes, importers and names of the sources below a folder, without their tests. */
export function measureSources(folder) {
  const root = resolve(folder)
  const files = readdirSync(root, { recursive: true })
    .map((name) => join(root, name))
    .filter((path) => path.endsWith('.ts') && !path.endsWith('.test.ts'))
  const texts = new Map(files.map((path) => [path, readFileSync(path, 'utf8')]))
  const name = (path) => relative(root, path)

  const importers = new Map(files.map((path) => [path, new Set()]))
  const functions = new Map()
  for (const [path, text] of texts) {
    for (const { fileName } of ts.preProcessFile(text).importedFiles)
      if (fileName.startsWith('.'))
        importers.get(resolve(dirname(path), fileName.replace(/\.js$/, '.ts')))?.add(path)
    for (const declared of functionNames(path, text)) {
      if (!functions.has(declared)) functions.set(declared, new Set())
      functions.get(declared).add(name(path))
    }
  }

  const lines = [...texts.values()].map((text) => text.split('\n').length - 1).sort((a, b) => a - b)
  const singleImporters = [...importers].filter(([, from]) => from.size === 1)
  const repeatedNames = [...functions]
    .filter(([, from]) => from.size > 1)
    .sort((a, b) => b[1].size - a[1].size)
  return {
    figures: {
      files: files.length,
      lines: lines.reduce((sum, n) => sum + n, 0),
      median: lines[Math.floor((lines.length - 1) / 2)],
      longest: lines.at(-1),
      'single importer': `${singleImporters.length} (${Math.round((100 * singleImporters.length) / files.length)} %)`,
      'function names': functions.size,
      'in several files': repeatedNames.length,
    },
    repeatedNames: repeatedNames.map(([declared, from]) => [declared, [...from]]),
    singleImporters: singleImporters.map(([path, from]) => [name(path), name([...from][0])]),
  }
}

/** The functions a file declares at its top level. */
function functionNames(path, text) {
  const { statements } = ts.createSourceFile(path, text, ts.ScriptTarget.Latest)
  return statements.flatMap((statement) => {
    if (ts.isFunctionDeclaration(statement)) return statement.name?.text ?? []
    if (!ts.isVariableStatement(statement)) return []
    return statement.declarationList.declarations.flatMap(({ name, initializer }) =>
      initializer && (ts.isArrowFunction(initializer) || ts.isFunctionExpression(initializer))
        ? name.text
        : [],
    )
  })
}
