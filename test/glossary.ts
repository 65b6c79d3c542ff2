import { basename } from 'node:path'
import ts from 'typescript'
import type { SourceFile } from './architecture.js'

/** Words that the glossary has thrown out. */
export interface ThrownOut {
  /** Never part of a name. A word with a hyphen means these words side by side. */
  readonly words: ReadonlySet<string>
  /** Never a whole name. */
  readonly names: ReadonlySet<string>
}

/** Reads the last column of the tables: **bold** words are never part of a name, _italic_ ones never a whole name. */
export function readGlossary(markdown: string): ThrownOut {
  const column = markdown
    .split('\n')
    .map((line) => (line.startsWith('|') ? (line.split('|').at(-2) ?? '') : ''))
  const found = (pattern: RegExp): Set<string> =>
    new Set(column.flatMap((cell) => [...cell.matchAll(pattern)].map(([, word = '']) => word)))
  return { words: found(/\*\*([a-z-]+)\*\*/g), names: found(/\b_([a-z-]+)_\b/g) }
}

/** Finds names of files, types, functions and methods that use a word of the past. One sentence for each. */
export function findThrownOutWords(files: readonly SourceFile[], { words, names }: ThrownOut): string[] {
  return files.flatMap(({ path, source }) => {
    const file = basename(path).replace(/(\.test)?\.ts$/, '')
    return [file, ...declaredNames(path, source)].flatMap((name) => {
      const parts = wordsOf(name)
      const pairs = parts.map((part, i) => `${part}-${parts[i + 1] ?? ''}`)
      const bad = [...parts, ...pairs].find((part) => words.has(part) || words.has(part.replace(/s$/, '')))
      const word = bad ?? (names.has(name) ? name : undefined)
      return word === undefined
        ? []
        : [`${path}: '${name}' uses '${word}', which docs/glossary.md has thrown out`]
    })
  })
}

/** The words of a name in camelCase or kebab-case. */
function wordsOf(name: string): string[] {
  return name.split(/[-_#.$]|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase())
}

function declaredNames(path: string, source: string): string[] {
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (isNamed(node) && node.name) found.push(node.name.getText())
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(path, source, ts.ScriptTarget.Latest, true))
  return found
}

function isNamed(node: ts.Node): node is ts.Node & { name?: ts.Node } {
  return (
    ts.isFunctionDeclaration(node) ||
    ts.isClassDeclaration(node) ||
    ts.isInterfaceDeclaration(node) ||
    ts.isTypeAliasDeclaration(node) ||
    ts.isMethodDeclaration(node) ||
    ts.isMethodSignature(node) ||
    (ts.isVariableDeclaration(node) && node.initializer !== undefined && ts.isArrowFunction(node.initializer))
  )
}
