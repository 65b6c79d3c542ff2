import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import ts from 'typescript'

const root = join(import.meta.dirname, '..', '..')
let transpiled: string | undefined

/** A folder with the sources as JavaScript that plain Node runs: `dist`, or a new one when `dist` is out of date. */
export function currentBuild(): string {
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
  const names = sources.filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
  if (names.every(isBuilt)) return join(root, 'dist')
  return (transpiled ??= transpile(names))
}

function isBuilt(name: string): boolean {
  const built = statSync(join(root, 'dist', toJavaScript(name)), { throwIfNoEntry: false })
  return built !== undefined && built.mtimeMs >= statSync(join(root, 'src', name)).mtimeMs
}

/** Checks no types. */
function transpile(names: readonly string[]): string {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-build-'))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  const compilerOptions = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022 }
  for (const name of names) {
    const source = readFileSync(join(root, 'src', name), 'utf8')
    const target = join(folder, toJavaScript(name))
    mkdirSync(dirname(target), { recursive: true })
    writeFileSync(target, ts.transpileModule(source, { compilerOptions }).outputText)
  }
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'), 'junction')
  return folder
}

function toJavaScript(name: string): string {
  return name.replace(/\.ts$/, '.js')
}
